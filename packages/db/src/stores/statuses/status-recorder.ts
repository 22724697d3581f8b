import type pg from 'pg'
import type { Database } from '../../client.js'
import { isDatabaseUnavailable } from '../../database-failure.js'
import { inPoolTransaction } from '../../pool-transaction.js'
import { enqueueDeliveries, type NewDelivery } from '../webhooks/deliveries.js'
import {
  type FoldedPosts,
  foldPosts,
  groupKey,
  type RecordedStatus,
  type StatusPosting,
} from './fold-posts.js'
import { pipelineDeliveries, watchPipelines } from './tell-pipelines.js'
import { addStatuses, beginAlone, changeStatuses, readGroups, type StatusEvents } from './write-statuses.js'

/**
 * Records posts of statuses: each changes an active record, or makes a new one. However many writers there are, posts
 * to one commit and name come one after the other, so parallel posts neither fail nor make a second record.
 */
export interface StatusRecorder {
  record(posting: StatusPosting): Promise<RecordedStatus>
}

interface Waiting {
  posting: StatusPosting
  resolve(recorded: RecordedStatus): void
  reject(error: unknown): void
}

const batchPostsMax = 200

/**
 * Posts that come while a transaction is being written wait for its end, and are then written together in the next one,
 * whose cost they share.
 */
export function createStatusRecorder({ pool }: Pick<Database, 'pool'>, events: StatusEvents): StatusRecorder {
  const waiting: Waiting[] = []
  let writing = false

  async function write() {
    writing = true
    while (waiting.length > 0) {
      const batch = waiting.splice(0, batchPostsMax)
      await settle(batch)
    }
    writing = false
  }

  async function settle(batch: Waiting[]): Promise<void> {
    try {
      const postings = batch.map(({ posting }) => posting)
      const recorded = await recordPosts(pool, postings, events)
      for (const [index, { resolve }] of batch.entries()) resolve(recorded[index] as RecordedStatus)
    } catch (error) {
      // Without a database each post alone fails, too, and each would wait for the failures before it.
      if (batch.length === 1 || isDatabaseUnavailable(error)) {
        for (const { reject } of batch) reject(error)
        return
      }
      // One post that fails, say because its project was deleted meanwhile, must not take the rest along.
      for (const one of batch) await settle([one])
    }
  }

  return {
    record: (posting) =>
      new Promise((resolve, reject) => {
        waiting.push({ posting, resolve, reject })
        // Posts that arrive in the same turn of the event loop share the first transaction.
        if (!writing) {
          writing = true
          setImmediate(() => void write())
        }
      }),
  }
}

async function recordPosts(
  pool: pg.Pool,
  postings: readonly StatusPosting[],
  events: StatusEvents,
): Promise<RecordedStatus[]> {
  const work = async (client: pg.PoolClient) => {
    const states = await readGroups(client, postings, events)
    const folded = foldPosts(postings, states, new Date())
    const pipelines = await watchPipelines(client, postings, folded.results, states)
    const recorded = await writeFolded(client, folded)
    await enqueueDeliveries(client, [
      ...deliveriesOf(postings, recorded, states),
      ...(await pipelineDeliveries(client, pipelines, recorded)),
    ])
    return recorded
  }
  return inPoolTransaction(pool, work, beginAlone(postings.map(({ label }) => groupKey(label))))
}

async function writeFolded(
  client: pg.PoolClient,
  { results, dirty }: FoldedPosts,
): Promise<RecordedStatus[]> {
  const known = dirty.filter(({ isNew }) => !isNew).map(({ status }) => status)
  const fresh = dirty.filter(({ isNew }) => isNew)
  // First what is superseded, because a label has one newest record at any time.
  await changeStatuses(client, known)
  const ids = await addStatuses(
    client,
    fresh.map(({ status }) => status),
  )
  const idOf = new Map(fresh.map((record, index) => [record, ids[index]]))
  return results.map(({ record, status, changed }) => ({
    status: { ...status, id: idOf.get(record) ?? status.id },
    changed,
  }))
}

function deliveriesOf(
  postings: readonly StatusPosting[],
  recorded: readonly RecordedStatus[],
  states: Awaited<ReturnType<typeof readGroups>>,
): NewDelivery[] {
  return recorded.flatMap(({ status, changed }, index) => {
    const posting = postings[index] as StatusPosting
    const webhookIds = states.get(groupKey(posting.label))?.webhookIds ?? []
    if (!changed || webhookIds.length === 0) return []
    const delivery = posting.tell(status)
    return webhookIds.map((webhookId) => ({ ...delivery, webhookId }))
  })
}
