import type { Pool, PoolClient } from '@switchyard/db'
import {
  type Database,
  enqueueDeliveries,
  inPoolTransaction,
  isDatabaseUnavailable,
  type NewDelivery,
} from '@switchyard/db'
import {
  findPipelineWithJobs,
  type OpenPipeline,
  type OpenPipelines,
  openPipelines,
  pipelineKey,
  updatePipelines,
} from '../pipelines/store.js'
import {
  type FoldedPosts,
  foldPosts,
  type GroupState,
  groupKey,
  type RecordedStatus,
  type StatusPosting,
} from './fold-posts.js'
import type { StatusWithAuthor } from './store.js'
import {
  addStatuses,
  beginWithGroupLocks,
  changeStatuses,
  readGroups,
  type StatusEvents,
} from './write-statuses.js'

/**
 * Records posted statuses: each post changes an active record or creates a new one. Posts to one commit and name are applied
 * one after the other across all processes, so parallel posts neither fail nor create a second record.
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
 * Posts that arrive during a transaction are written together in the next one.
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
      // When the database is unavailable, single posts would fail as well, one after the other.
      if (batch.length === 1 || isDatabaseUnavailable(error)) {
        for (const { reject } of batch) reject(error)
        return
      }
      // A post may fail alone, for example because its project was deleted. The rest of the batch is recorded.
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
  pool: Pool,
  postings: readonly StatusPosting[],
  events: StatusEvents,
): Promise<RecordedStatus[]> {
  const work = async (client: PoolClient) => {
    const states = await readGroups(client, postings, events)
    const now = new Date()
    const folded = foldPosts(postings, states, now)
    const labels = folded.results.map(({ status }) => status)
    const open = await openPipelines(client, labels, now)
    const recorded = await writeFolded(client, folded, open)
    const grown = folded.dirty.filter(({ isNew }) => isNew).map(({ status }) => pipelineKey(status))
    const after = await updatePipelines(client, open, new Set(grown))
    await enqueueDeliveries(client, [
      ...deliveriesOf(postings, recorded, states),
      ...(await pipelineDeliveries(client, { postings, recorded }, states, open, after)),
    ])
    return recorded
  }
  return inPoolTransaction(pool, work, beginWithGroupLocks(postings.map(({ label }) => groupKey(label))))
}

async function writeFolded(
  client: PoolClient,
  { results, dirty }: FoldedPosts,
  open: OpenPipelines,
): Promise<RecordedStatus[]> {
  const inPipeline = (status: StatusWithAuthor): StatusWithAuthor => ({
    ...status,
    pipelineId: open.get(pipelineKey(status))?.id ?? status.pipelineId,
  })
  const known = dirty.filter(({ isNew }) => !isNew).map(({ status }) => status)
  const fresh = dirty.filter(({ isNew }) => isNew)
  // Superseded records are changed first, because a unique index allows one newest record for each label.
  await changeStatuses(client, known)
  const ids = await addStatuses(
    client,
    fresh.map(({ status }) => inPipeline(status)),
  )
  const idOf = new Map(fresh.map((record, index) => [record, ids[index]]))
  return results.map(({ record, status, changed }) => ({
    status: { ...inPipeline(status), id: idOf.get(record) ?? status.id },
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
    const delivery = posting.delivery(status)
    return webhookIds.map((webhookId) => ({ ...delivery, webhookId }))
  })
}

/**
 * The deliveries for the pipelines whose state has changed. The last post to a pipeline makes them.
 *
 * @param recorded the results of the posts, in their order
 * @param after the states of the pipelines after the posts, by key
 */
export async function pipelineDeliveries(
  client: PoolClient,
  { postings, recorded }: { postings: readonly StatusPosting[]; recorded: readonly RecordedStatus[] },
  states: ReadonlyMap<string, GroupState>,
  open: OpenPipelines,
  after: ReadonlyMap<string, string>,
): Promise<NewDelivery[]> {
  const moved = new Map<string, { pipeline: OpenPipeline; posting: StatusPosting; webhookIds: number[] }>()
  for (const [index, { status }] of recorded.entries()) {
    const posting = postings[index] as StatusPosting
    const webhookIds = states.get(groupKey(posting.label))?.pipelineWebhookIds ?? []
    const key = pipelineKey(status)
    const pipeline = open.get(key)
    if (!pipeline || webhookIds.length === 0 || after.get(key) === pipeline.before) continue
    moved.set(key, { pipeline, posting, webhookIds })
  }
  const deliveries: NewDelivery[] = []
  for (const { pipeline, posting, webhookIds } of moved.values()) {
    const found = await findPipelineWithJobs(client, pipeline.projectId, pipeline.id)
    if (!found) continue
    const delivery = posting.pipelineDelivery(found)
    deliveries.push(...webhookIds.map((webhookId) => ({ ...delivery, webhookId })))
  }
  return deliveries
}
