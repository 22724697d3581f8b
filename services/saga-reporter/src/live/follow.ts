import type { SagaFeed } from './feed.js'
import type { LogEntry, LogPage } from './store.js'

/**
 * A part of the log for one client. Without entries, it only contains the position up to which the log was
 * searched.
 */
export interface Batch {
  entries: LogEntry[]
  /** The position after which the next part begins. */
  sequence: number
  /** Whether the requested position is beyond the end of the log. */
  reset: boolean
}

export interface FollowOptions {
  feed: SagaFeed
  /** Reads entries that are older than those in the feed's memory. */
  readPage: (filter: WatchFilter, range: { after: number; upTo: number }) => Promise<LogPage>
  /** Reads the last assigned position. */
  readLastPosition: () => Promise<number>
  filter: WatchFilter
  /** The position after which to begin; null: new entries only. */
  after: number | null
  signal: AbortSignal
  heartbeatMs: number
}

const entriesAtOnce = 200

/**
 * Yields the entries after a position that pass a filter, each once and in order, until the signal aborts.
 * The first part comes at once, and at least one part with each heartbeat. A client that lags behind the feed
 * reads the log page by page, as fast as it consumes the pages; pages are not kept in memory before it
 * requests them.
 */
export async function* follow(options: FollowOptions): AsyncGenerator<Batch> {
  const { feed, filter, signal, heartbeatMs } = options
  const leave = await feed.join()
  try {
    const start = await startOf(options)
    let { position } = start
    let yieldedAtMs = performance.now()
    yield { entries: [], sequence: position, reset: start.isBeyond }
    while (!signal.aborted) {
      const page = await nextPage(options, position)
      const entries = page ? page.entries.filter((entry) => isWanted(filter, entry)) : []
      position = page?.readTo ?? position
      const untilHeartbeatMs = yieldedAtMs + heartbeatMs - performance.now()
      if (entries.length > 0 || untilHeartbeatMs <= 0) {
        yieldedAtMs = performance.now()
        yield { entries, sequence: position, reset: false }
      } else if (position >= feed.position) await feed.changed(untilHeartbeatMs, signal)
    }
  } finally {
    leave()
  }
}

/** Reads the next part of the log; null when there are no new entries. */
async function nextPage(
  { feed, readPage, filter }: FollowOptions,
  position: number,
): Promise<LogPage | null> {
  if (position >= feed.position) return null
  if (position >= feed.floor) return feed.after(position, entriesAtOnce)
  return readPage(filter, { after: position, upTo: feed.position })
}

async function startOf({ feed, after, readLastPosition }: FollowOptions) {
  const end = feed.position
  if (after === null) return { position: end, isBeyond: false }
  // Another replica may be ahead of this one. A position beyond the end of the log itself means that the end
  // of the log was lost.
  const isBeyond = after > end && after > (await readLastPosition())
  return { position: isBeyond ? end : after, isBeyond }
}

/** A filter of log entries. A missing field matches every entry. */
export interface WatchFilter {
  tenant: string
  serviceName?: string | undefined
  sagaId?: string | undefined
  /** Statuses of the saga at the time when the entry is read. */
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
