import type { LogEntry, LogPage } from '@switchyard/db'
import type { SagaFeed } from './feed.js'
import { isWanted, type WatchFilter } from './watch-filter.js'

/** A piece of the log for one client; without entries it only says how far the log has been looked through. */
export interface Batch {
  entries: LogEntry[]
  /** Where to go on from after this piece. */
  sequence: number
  /** The position that was asked for is beyond the end of the log. */
  reset: boolean
}

export interface FollowOptions {
  feed: SagaFeed
  /** Reads what is older than what the feed has at hand. */
  readPage: (filter: WatchFilter, range: { after: number; upTo: number }) => Promise<LogPage>
  /** The last position that was given away. */
  readLastPosition: () => Promise<number>
  filter: WatchFilter
  /** The position to go on after; null: from now on. */
  after: number | null
  signal: AbortSignal
  heartbeatMs: number
}

const entriesAtOnce = 200

/**
 * Gives what a filter lets through after a position, each entry once, in order, as long as the signal lasts; the first
 * piece comes at once, and one at least with each heartbeat. A client that lags behind the feed reads the log by
 * itself, a page at a time and only as fast as it takes them; what it has not asked for yet is kept nowhere.
 */
export async function* follow(options: FollowOptions): AsyncGenerator<Batch> {
  const { feed, filter, signal, heartbeatMs } = options
  const leave = await feed.join()
  try {
    const begin = await beginOf(options)
    let { position } = begin
    let toldAtMs = performance.now()
    yield { entries: [], sequence: position, reset: begin.isBeyond }
    while (!signal.aborted) {
      const page = await nextPage(options, position)
      const entries = page ? page.entries.filter((entry) => isWanted(filter, entry)) : []
      position = page?.readTo ?? position
      const untilHeartbeatMs = toldAtMs + heartbeatMs - performance.now()
      if (entries.length > 0 || untilHeartbeatMs <= 0) {
        toldAtMs = performance.now()
        yield { entries, sequence: position, reset: false }
      } else if (position >= feed.position) await feed.changed(untilHeartbeatMs, signal)
    }
  } finally {
    leave()
  }
}

/** Null when there is nothing new. */
async function nextPage(
  { feed, readPage, filter }: FollowOptions,
  position: number,
): Promise<LogPage | null> {
  if (position >= feed.position) return null
  if (position >= feed.floor) return feed.after(position, entriesAtOnce)
  return readPage(filter, { after: position, upTo: feed.position })
}

async function beginOf({ feed, after, readLastPosition }: FollowOptions) {
  const end = feed.position
  if (after === null) return { position: end, isBeyond: false }
  // Another replica may be ahead of this one; the log itself cannot be, unless it has lost its end.
  const isBeyond = after > end && after > (await readLastPosition())
  return { position: isBeyond ? end : after, isBeyond }
}
