import type pg from 'pg'
import type { NewDelivery } from '../webhooks/deliveries.js'
import { type GroupState, groupKey, type RecordedStatus, type StatusPosting } from './fold-posts.js'
import { findPipeline, type PipelineLabel, pipelineKey, pipelineStatus } from './pipelines.js'
import { lockAlone } from './write-statuses.js'

interface Watched {
  label: PipelineLabel
  webhookIds: number[]
  /** The last post to the pipeline, which makes the delivery. */
  posting: StatusPosting
  before: string | null
}

/**
 * Locks the pipelines of these posts that webhooks subscribe to, and reads their states. The lock ends with the transaction,
 * so that of two transactions that finish the last jobs of a pipeline, the second one sees the finished pipeline.
 *
 * @param recorded the results of the posts, in their order, with the refs of their records
 */
export async function watchPipelines(
  client: pg.PoolClient,
  postings: readonly StatusPosting[],
  recorded: readonly RecordedStatus[],
  states: ReadonlyMap<string, GroupState>,
): Promise<Watched[]> {
  const watched = new Map<string, Omit<Watched, 'before'>>()
  for (const [index, { status }] of recorded.entries()) {
    const posting = postings[index] as StatusPosting
    const webhookIds = states.get(groupKey(posting.label))?.pipelineWebhookIds ?? []
    const { projectId, sha, ref } = status
    const label = { projectId, sha, ref }
    if (webhookIds.length > 0) watched.set(pipelineKey(label), { label, webhookIds, posting })
  }
  if (watched.size === 0) return []
  await lockAlone(client, [...watched.keys()])
  const result: Watched[] = []
  for (const one of watched.values()) {
    result.push({ ...one, before: await pipelineStatus(client, one.label) })
  }
  return result
}

/** The deliveries for the pipelines whose state has changed. */
export async function pipelineDeliveries(
  client: pg.PoolClient,
  watched: readonly Watched[],
  recorded: readonly RecordedStatus[],
): Promise<NewDelivery[]> {
  if (!recorded.some(({ changed }) => changed)) return []
  const deliveries: NewDelivery[] = []
  for (const { label, webhookIds, posting, before } of watched) {
    if ((await pipelineStatus(client, label)) === before) continue
    const pipeline = await findPipeline(client, label)
    if (!pipeline) continue
    const delivery = posting.tellPipeline(pipeline)
    deliveries.push(...webhookIds.map((webhookId) => ({ ...delivery, webhookId })))
  }
  return deliveries
}
