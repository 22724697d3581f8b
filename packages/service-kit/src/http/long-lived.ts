import { DomainError } from '@switchyard/domain'
import type { Response } from 'express'
import type { Logger } from 'pino'

/** Together with the half second for which tokens are remembered, less than a second. */
const recheckMs = 300
/**
 * How long an endpoint may take to end its answer in its own way before the answer is refused, or its
 * connection cut.
 */
const graceMs = 100
/** More listeners for one event of an answer are a leak. */
const listenersMax = 20

export interface LongLivedAnswer {
  response: Response
  /** Throws what the guard would throw for the same request now. */
  check: () => Promise<unknown>
  /** Tells the endpoint that the answer has to end. */
  end: (refusal: DomainError) => void
  /** Answers in place of an endpoint that has not begun to. */
  refuse: (refusal: DomainError) => void
  logger: () => Logger
}

/**
 * Checks the sender of a request again and again while its answer is under way. When the token no longer
 * works or the right is gone, the endpoint is told. Soon after, the client gets the refusal, or the
 * connection is cut when an answer has begun. A check that fails for another reason, such as an outage of the
 * database, ends nothing.
 */
export function recheckWhileOpen({ response, check, end, refuse, logger }: LongLivedAnswer): void {
  let timer = setTimeout(recheck, recheckMs)
  // A pipeline to the client listens seven times to the end of the answer, besides four listeners of this
  // kit. Node takes more than ten for a leak.
  response.setMaxListeners(listenersMax)
  response.once('close', () => clearTimeout(timer))

  async function recheck(): Promise<void> {
    const refusal = await check().then(
      () => null,
      (error: unknown) => (endsAnswer(error) ? error : null),
    )
    if (response.closed) return
    if (refusal === null) {
      timer = setTimeout(recheck, recheckMs)
      return
    }
    logger().info({ kind: refusal.kind }, 'ended an answer: its sender may not have it any more')
    end(refusal)
    timer = setTimeout(() => {
      if (response.headersSent) return void response.destroy()
      // The endpoint may still write; what it writes after the refusal is an error of the stream that nobody
      // waits for.
      response.on('error', () => {})
      refuse(refusal)
    }, graceMs)
  }
}

/** Whether the sender may not have the answer any more. A limit or an outage does not end it. */
const endsAnswer = (error: unknown): error is DomainError =>
  error instanceof DomainError && error.kind !== 'unavailable' && error.kind !== 'rate-limited'
