import { excerpt } from '@switchyard/domain'
import type { Logger } from '@switchyard/service-kit/observability'

/** The reason why an identity token is refused, without the content of the token. */
export interface Refusal {
  /** A code of `jose`, or one of the reasons of docs/keyless-ci.md. */
  reason: string
  /** The claim that the code is about. */
  claim?: string | undefined
  /** Set when administrators allow the host of the issuer. Otherwise anybody may have invented the name. */
  issuer?: string
}

export type RefusalLogger = Pick<Logger, 'warn'>

const linesPerMinuteMax = 60

/** Logs at most 60 refusals a minute, and later the number of the others. */
export function createRefusalLog(logger: RefusalLogger) {
  let minute = { endMs: 0, lines: 0, unlogged: 0 }
  return (refusal: Refusal, project: string | undefined): void => {
    const nowMs = performance.now()
    if (nowMs >= minute.endMs) {
      const { unlogged } = minute
      if (unlogged > 0) logger.warn({ unlogged }, 'more identity tokens of CI jobs were refused')
      minute = { endMs: nowMs + 60_000, lines: 0, unlogged: 0 }
    }
    if (minute.lines >= linesPerMinuteMax) {
      minute.unlogged += 1
      return
    }
    minute.lines += 1
    const named = project !== undefined && { project: excerpt(project) }
    logger.warn({ ...refusal, ...named }, 'the identity token of a CI job was refused')
  }
}
