import { sagaEventsChannel } from '@switchyard/contracts/jobs'
import type { Pooled } from '@switchyard/db'
import { DomainError } from '@switchyard/domain'
import {
  type CommittedBatch,
  isAnyWriterActive,
  readLastPosition,
  readLogWriters,
} from '@switchyard/saga-store'
import { recheckRegularly } from '@switchyard/service-kit/http'
import { listenForNotices, publishNotice } from '@switchyard/service-kit/notices'
import type { Logger, Metrics } from '@switchyard/service-kit/observability'
import { openRedis } from '@switchyard/service-kit/redis'
import { SagaFeed } from './feed.js'
import { type Batch, follow, type WatchFilter } from './follow.js'
import { readLogPage, readLogTail } from './store.js'
import { type StreamKind, type StreamLimits, type StreamOwner, StreamQuota } from './stream-quota.js'

export interface Watch {
  kind: StreamKind
  owner: StreamOwner
  filter: WatchFilter
  /** The position after which to begin; null: new entries only. */
  after: number | null
  /** Aborts when the client has disconnected, or with a DomainError when the client may no longer read. */
  signal: AbortSignal
  /** Throws a DomainError when the client may no longer read. Unset: only the signal ends the stream. */
  recheck?: () => Promise<unknown>
}

/** The log of sagas as it grows. */
export interface LiveSagas {
  /**
   * Yields parts of the log until the client disconnects or this process stops.
   *
   * @throws DomainError unavailable when this process has too many streams; rate-limited when the owner has
   *   too many; the error of `recheck`
   */
  watch(watch: Watch): AsyncGenerator<Batch>
  /** Wakes the streams of every replica after a commit. It does not wait and never fails. */
  announce(batch: CommittedBatch): void
  close(): void
}

export interface LiveSagasDependencies {
  database: Pooled
  /** Connections for clients that lag behind the feed, with a limit for each statement. */
  limitedDatabase: Pooled
  /** Unset: other replicas find new events within a second, by polling. */
  redisUrl: string | undefined
  logger: Logger
  metrics: Metrics
  limits: StreamLimits
}

const heartbeatMs = 15_000

export function createLiveSagas(deps: LiveSagasDependencies): LiveSagas {
  const { database, limitedDatabase, redisUrl, logger, metrics, limits } = deps
  const quota = new StreamQuota(limits, metrics)
  const lastPosition = () => readLastPosition(database)
  const feed = new SagaFeed(
    {
      readTail: (wanted) => readLogTail(database, wanted),
      readLastPosition: lastPosition,
      readWriters: () => readLogWriters(database),
      isAnyActive: (writers) => isAnyWriterActive(database, writers),
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
    const { ending, close } = quota.open(kind, owner, client)
    const stopRechecking = recheck && recheckRegularly(recheck, (refusal) => ending.abort(refusal))
    const { signal } = ending
    try {
      const readPage = (wanted: WatchFilter, range: { after: number; upTo: number }) =>
        readLogPage(limitedDatabase, wanted, range)
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
      stopRechecking?.()
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
      quota.close()
      notices.close()
    },
  }
}

/** Notices between replicas. A lost notice only delays events, because every replica also polls. */
export interface Notices {
  /** Notifies every replica of a commit. It does not wait and never fails. */
  publish(batch: CommittedBatch): void
  close(): void
}

/** Without Redis, replicas poll the log every second. */
const noNotices: Notices = { publish: () => {}, close: () => {} }

export interface NoticesDependencies {
  redisUrl: string
  onNotice: () => void
  logger: Logger
}

export function createNotices({ redisUrl, onNotice, logger }: NoticesDependencies): Notices {
  const publisher = openRedis(
    redisUrl,
    logger,
    'no connection to Redis: other replicas find the saga events of this one up to a second late',
  )
  const stopListening = listenForNotices({
    redisUrl,
    channel: sagaEventsChannel,
    logger,
    outageMessage: 'no connection to Redis: this replica finds the saga events of others up to a second late',
    onSubscribed: onNotice,
    onNotice,
  })
  return {
    publish(batch) {
      publishNotice(publisher, sagaEventsChannel, batch)
    },
    close() {
      publisher.redis.disconnect()
      stopListening()
    },
  }
}
