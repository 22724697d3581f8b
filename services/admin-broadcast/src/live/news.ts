import {
  type BroadcastNotice,
  broadcastChannel,
  broadcastHorizonMs,
  broadcastNotice,
  broadcastTurnJob,
  jobKeyPrefix,
  queueNames,
} from '@switchyard/contracts/jobs'
import type { BroadcastMessage } from '@switchyard/db'
import type { Clock } from '@switchyard/domain'
import { turnsBetween } from '@switchyard/domain/broadcast'
import { createJobQueue } from '@switchyard/service-kit/job-queue'
import type { Logger } from '@switchyard/service-kit/observability'
import { createRedis, reportOutages } from '@switchyard/service-kit/redis'
import type { MessageBoard } from './message-board.js'

export interface NewsOptions {
  redisUrl: string
  board: MessageBoard
  clock: Clock
  logger: Logger
}

/** Sends notices of changed messages between the replicas of this service, and receives the worker's notices of turns. */
export interface News {
  /**
   * Announces a written message, or a deletion (without a message). Resolves when this replica shows the change. The other
   * replicas are notified, and jobs for the message's turns are planned. It never fails: each replica also reads the table
   * regularly, and the worker plans jobs regularly.
   */
  announce(message?: BroadcastMessage): Promise<void>
  close(): Promise<void>
}

export function createNews({ redisUrl, board, clock, logger }: NewsOptions): News {
  const report = reportOutages(logger, 'Redis is away: changes reach other replicas a second late')
  const publisher = createRedis({ url: redisUrl, onError: report.failed })
  publisher.on('ready', report.over)
  const turns = createJobQueue({
    name: queueNames.broadcastTurn,
    prefix: jobKeyPrefix,
    connection: publisher,
    onError: report.failed,
  })
  const stopListening = listenForNews(redisUrl, board)

  async function plan(message: BroadcastMessage): Promise<void> {
    const now = clock()
    for (const at of turnsBetween([message], now, new Date(now.getTime() + broadcastHorizonMs))) {
      const { name, data, options } = broadcastTurnJob(at, now)
      await turns.add(name, data, options)
    }
  }

  return {
    async announce(message) {
      if (publisher.status === 'ready') {
        const changed: BroadcastNotice = {}
        publisher.publish(broadcastChannel, JSON.stringify(changed)).catch(report.failed)
        if (message) plan(message).catch(report.failed)
      }
      await board.refresh().catch((error: unknown) => logger.warn({ err: error }, 'could not show a change'))
    },
    async close() {
      stopListening()
      await turns.close()
      publisher.disconnect()
    },
  }
}

/** Passes notices on to the board, and tells the board whether it receives notices. */
function listenForNews(redisUrl: string, board: MessageBoard): () => void {
  // The publisher's connection reports outages.
  const subscriber = createRedis({ url: redisUrl, onError: () => {}, autoResubscribe: false })
  const refresh = () => board.refresh().catch(() => board.setTold(false))
  subscriber.on('ready', async () => {
    try {
      await subscriber.subscribe(broadcastChannel)
      board.setTold(true)
      await refresh()
    } catch {
      // Without the subscription the connection is of no use; a new one tries again.
      subscriber.disconnect(true)
    }
  })
  subscriber.on('close', () => board.setTold(false))
  subscriber.on('message', (_channel, text) => {
    const notice = readNotice(text)
    if (notice?.at === undefined) void refresh()
    else board.turn(new Date(notice.at))
  })
  return () => subscriber.disconnect()
}

function readNotice(text: string): BroadcastNotice | undefined {
  try {
    return broadcastNotice.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
