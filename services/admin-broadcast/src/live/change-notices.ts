import {
  type BroadcastNotice,
  broadcastBoundaryJob,
  broadcastChannel,
  broadcastHorizonMs,
  broadcastNotice,
  jobKeyPrefix,
  queueNames,
} from '@switchyard/contracts/jobs'
import type { BroadcastMessage } from '@switchyard/db'
import type { Clock } from '@switchyard/domain'
import { boundariesBetween } from '@switchyard/domain/broadcast'
import { createJobQueues } from '@switchyard/service-kit/job-queues'
import { listenForNotices, publishNotice } from '@switchyard/service-kit/notices'
import type { Logger } from '@switchyard/service-kit/observability'
import { openRedis } from '@switchyard/service-kit/redis'
import type { MessageBoard } from './message-board.js'

interface ChangeNoticesDependencies {
  redisUrl: string
  board: MessageBoard
  clock: Clock
  logger: Logger
}

/**
 * Notices of changed messages between the replicas of this service, and the worker's notices of boundaries.
 */
export interface ChangeNotices {
  /**
   * Announces a written message, or a deletion (without a message). Resolves when this replica shows the
   * change. It notifies the other replicas and plans jobs for the message's boundaries. It never fails: each
   * replica also reads the table regularly, and the worker plans jobs regularly.
   */
  announce(message?: BroadcastMessage): Promise<void>
  close(): Promise<void>
}

export function createChangeNotices({
  redisUrl,
  board,
  clock,
  logger,
}: ChangeNoticesDependencies): ChangeNotices {
  const publisher = openRedis(
    redisUrl,
    logger,
    'no connection to Redis: other replicas find the changes of this one up to a second late',
  )
  const { redis, report } = publisher
  const queues = createJobQueues({
    prefix: jobKeyPrefix,
    connection: redis,
    onError: report.disconnected,
  })
  const stopListening = listen(redisUrl, board, logger)

  async function plan(message: BroadcastMessage): Promise<void> {
    const now = clock()
    for (const at of boundariesBetween([message], now, new Date(now.getTime() + broadcastHorizonMs))) {
      const { name, data, options } = broadcastBoundaryJob(at, now)
      await queues.get(queueNames.broadcastBoundary).add(name, data, options)
    }
  }

  return {
    async announce(message) {
      const changed: BroadcastNotice = {}
      publishNotice(publisher, broadcastChannel, changed)
      if (message && redis.status === 'ready') plan(message).catch(report.commandFailed)
      await board
        .refresh()
        .catch((error: unknown) =>
          logger.warn({ err: error }, 'could not show a change of a broadcast message'),
        )
    },
    async close() {
      stopListening()
      await queues.close()
      redis.disconnect()
    },
  }
}

/** Passes notices on to the board, and informs it whether notices are received. */
function listen(redisUrl: string, board: MessageBoard, logger: Logger): () => void {
  const refresh = () => board.refresh().catch(() => board.markOutdated())
  return listenForNotices({
    redisUrl,
    channel: broadcastChannel,
    logger,
    outageMessage: 'no connection to Redis: this replica finds the changes of others up to a second late',
    onSubscribed() {
      board.setSubscribed(true)
      void refresh()
    },
    onUnsubscribed: () => board.setSubscribed(false),
    onNotice(text) {
      const notice = readNotice(text)
      if (notice?.at === undefined) void refresh()
      else board.reachBoundary(new Date(notice.at))
    },
  })
}

function readNotice(text: string): BroadcastNotice | undefined {
  try {
    return broadcastNotice.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
