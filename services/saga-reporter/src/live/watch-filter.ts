import type { LogEntry } from '@switchyard/db'

/** Which entries of the log a client wants. A missing field lets every entry pass. */
export interface WatchFilter {
  tenant: string
  serviceName?: string | undefined
  sagaId?: string | undefined
  /** Of the saga, at the time when the entry is read. */
  statuses?: readonly string[] | undefined
  operations?: readonly string[] | undefined
}

export function isWanted(
  { tenant, serviceName, sagaId, statuses, operations }: WatchFilter,
  entry: LogEntry,
): boolean {
  return (
    entry.tenant === tenant &&
    (sagaId === undefined || entry.sagaId === sagaId) &&
    (serviceName === undefined || entry.serviceName === serviceName) &&
    isAmong(operations, entry.operation) &&
    isAmong(statuses, entry.status)
  )
}

const isAmong = (allowed: readonly string[] | undefined, value: string | null) =>
  allowed === undefined || allowed.length === 0 || (value !== null && allowed.includes(value))
