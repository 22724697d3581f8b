import type { Logger } from 'pino'

export interface OutageLog {
  /** Reports a failure. @param fields of the log line, such as `{ err: error }` */
  failed(fields: object): void
  /** Reports a success. */
  worked(): void
}

/**
 * Logs the first failure of an outage and the first success after it, because failures repeat until the
 * outage ends.
 */
export function createOutageLog(logger: Logger, { lost, back }: { lost: string; back: string }): OutageLog {
  let isAway = false
  return {
    failed(fields) {
      if (!isAway) logger.warn(fields, lost)
      isAway = true
    },
    worked() {
      if (isAway) logger.info(back)
      isAway = false
    },
  }
}
