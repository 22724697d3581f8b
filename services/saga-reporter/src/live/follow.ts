import type { SagaFeed } from './feed.js'
import type { LogEntry, LogPage } from './store.js'

/**
 * A part of the log for one client. Without entries it only says up to which position the log has been
 * searched.
 */
export interface Batch {
  entries: LogEntry[]
  /** The position after which the next part begins. */
  sequence: number
  /** The requested position is beyond the end of the log. */
  reset: boolean
}

export interface FollowOptions {
  feed: SagaFeed
  /** Reads entries that are older than those in the feed's memory. */
  readPage: (filter: WatchFilter, range: { after: number; upTo: number }) => Promise<LogPage>
  /** The last position that was drawn. */
  readLastPosition: () => Promise<number>
  filter: WatchFilter
  /** The position after which to begin; null: new entries only. */
  after: number | null
  signal: AbortSignal
  heartbeatMs: number
}

const entriesAtOnce = 200

/**
 * Yields the entries after a position that pass a filter, each once and in order, until the signal is
 * aborted. The first part comes at once, and at least one part with each heartbeat. A client that lags behind
 * the feed reads the log page by page, as fast as the client consumes the pages; pages that it has not
 * requested are not kept in memory.
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

/** The next part of the log; null when there are no new entries. */
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
  // Another replica may be ahead of this one. A position beyond the end of the log itself means that its end
  // was lost.
  const isBeyond = after > end && after > (await readLastPosition())
  return { position: isBeyond ? end : after, isBeyond }
}

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
