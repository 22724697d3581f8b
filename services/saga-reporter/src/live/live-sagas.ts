import {
  type CommittedBatch,
  type Database,
  readLastPosition,
  readLogPage,
  readLogTail,
  readLogWriters,
} from '@switchyard/db'
import { DomainError } from '@switchyard/domain'
import type { Logger, Metrics } from '@switchyard/service-kit/observability'
import { SagaFeed } from './feed.js'
import { type Batch, follow } from './follow.js'
import { createNotices, noNotices } from './notices.js'
import { OpenStreams, type StreamKind, type StreamLimits, type StreamOwner } from './open-streams.js'
import type { WatchFilter } from './watch-filter.js'

export interface Watch {
  kind: StreamKind
  owner: StreamOwner
  filter: WatchFilter
  /** The position to go on after; null: from now on. */
  after: number | null
  /** Aborts when the client has gone, or with a DomainError when it may not read any more. */
  signal: AbortSignal
  /** Throws a DomainError once the client may not read any more. Unset: the signal tells. */
  recheck?: () => Promise<unknown>
}

/** The log of sagas as it grows. */
export interface LiveSagas {
  /**
   * Gives pieces of the log until the client goes or this process stops.
   *
   * @throws DomainError unavailable when this process has too many streams, rate-limited when the owner has; what
   * `recheck` throws
   */
  watch(watch: Watch): AsyncGenerator<Batch>
  /** Something was committed: every replica's streams wake up. Never waits and never fails. */
  announce(batch: CommittedBatch): void
  /** Ends every stream. */
  close(): void
}

export interface LiveSagasOptions {
  database: Pick<Database, 'pool'>
  /** Connections for clients that lag behind. */
  readDatabase: Pick<Database, 'pool'>
  /** Unset: other replicas notice within a second. */
  redisUrl: string | undefined
  logger: Logger
  metrics: Metrics
  limits: StreamLimits
}

const heartbeatMs = 15_000
/** Together with the half second for which tokens are remembered, less than a second. */
const recheckMs = 300

export function createLiveSagas(options: LiveSagasOptions): LiveSagas {
  const { database, readDatabase, redisUrl, logger, metrics, limits } = options
  const streams = new OpenStreams(limits, metrics)
  const lastPosition = () => readLastPosition(database)
  const feed = new SagaFeed(
    {
      readTail: (wanted) => readLogTail(database, wanted),
      readLastPosition: lastPosition,
      readWriters: () => readLogWriters(database),
    },
    logger,
  )

  const notices = redisUrl ? createNotices({ redisUrl, onNotice: () => feed.wake(), logger }) : noNotices

  async function* watch({
    kind,
    owner,
    filter,
    after,
    signal: client,
    recheck,
  }: Watch): AsyncGenerator<Batch> {
    const { ending, close } = streams.open(kind, owner, client)
    const stopChecking = recheck && recheckRegularly(recheck, ending)
    const { signal } = ending
    try {
      const readPage = (wanted: WatchFilter, range: { after: number; upTo: number }) =>
        readLogPage(readDatabase, wanted, range)
      yield* follow({
        feed,
        readPage,
        readLastPosition: lastPosition,
        filter,
        after,
        signal,
        heartbeatMs,
      })
      if (signal.reason instanceof DomainError) throw signal.reason
    } finally {
      stopChecking?.()
      close()
    }
  }

  return {
    watch,
    announce(batch) {
      feed.wake()
      notices.publish(batch)
    },
    close() {
      streams.close()
      notices.close()
    },
  }
}

/** A refusal ends the stream; a check that cannot be made proves nothing. */
function recheckRegularly(recheck: () => Promise<unknown>, ending: AbortController): () => void {
  const timer = setInterval(() => {
    recheck().catch((error: unknown) => {
      if (error instanceof DomainError && error.kind !== 'unavailable') ending.abort(error)
    })
  }, recheckMs)
  return () => clearInterval(timer)
}
