import { DomainError } from '@switchyard/domain'
import type { Response } from 'express'
import type { Logger } from 'pino'

/** Together with the half second for which tokens are remembered, this is less than a second. */
const recheckMs = 300
/**
 * Time for an endpoint to end its answer in its own way before the answer is refused, or its connection cut.
 */
const graceMs = 100
/** More listeners for one event of an answer indicate a leak. */
const listenersMax = 20

export interface LongLivedAnswer {
  response: Response
  /** Throws the error that the guard would throw for the same request now. */
  check: () => Promise<unknown>
  /** Notifies the endpoint that the answer has to end. */
  end: (refusal: DomainError) => void
  /** Answers instead of an endpoint that has not begun its answer. */
  refuse: (refusal: DomainError) => void
  logger: () => Logger
}

/**
 * Checks the sender of a request repeatedly while its answer is in progress. When the token no longer works
 * or the right is gone, the endpoint is notified. Soon after, the client receives the refusal, or the
 * connection is cut if the answer has begun. A check that fails for another reason, such as an outage of the
 * database, ends nothing.
 */
export function recheckWhileOpen({ response, check, end, refuse, logger }: LongLivedAnswer): void {
  // A pipeline to the client adds seven listeners for the end of the answer, besides four listeners of this
  // kit. Node warns of a leak at more than ten.
  response.setMaxListeners(listenersMax)
  const stop = recheckRegularly(check, (refusal) => {
    logger().info({ kind: refusal.kind }, 'ended an answer: its sender may not have it any more')
    end(refusal)
    const timer = setTimeout(() => {
      if (response.headersSent) return void response.destroy()
      // The endpoint may still write. Writing after the refusal is an error of the stream that nobody
      // handles.
      response.on('error', () => {})
      refuse(refusal)
    }, graceMs)
    response.once('close', () => clearTimeout(timer))
  })
  if (response.closed) stop()
  else response.once('close', stop)
}

/**
 * Checks repeatedly whether the sender may still have an answer, until a check refuses it. A check that fails
 * for another reason refuses nothing.
 *
 * @returns a function that ends the checks
 */
export function recheckRegularly(
  check: () => Promise<unknown>,
  onRefusal: (refusal: DomainError) => void,
): () => void {
  let stopped = false
  let timer = setTimeout(recheck, recheckMs)
  async function recheck(): Promise<void> {
    const refusal = await check().then(
      () => null,
      (error: unknown) => (endsAnswer(error) ? error : null),
    )
    if (stopped) return
    if (refusal === null) timer = setTimeout(recheck, recheckMs)
    else onRefusal(refusal)
  }
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}

/**
 * Returns whether an error means that the sender may no longer have the answer. A limit or an outage does not
 * end it.
 */
const endsAnswer = (error: unknown): error is DomainError =>
  error instanceof DomainError && error.kind !== 'unavailable' && error.kind !== 'rate-limited'
