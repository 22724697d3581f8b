import type pg from 'pg'
import type { NewDelivery } from '../webhooks/deliveries.js'
import { type GroupState, groupKey, type RecordedStatus, type StatusPosting } from './fold-posts.js'
import { findPipelineWithJobs, pipelineKey } from './pipelines.js'
import type { OpenPipeline, OpenPipelines } from './write-pipelines.js'

/**
 * The deliveries for the pipelines whose state has changed. The last post to a pipeline makes them.
 *
 * @param recorded the results of the posts, in their order
 * @param after the states of the pipelines after the posts, by key
 */
export async function pipelineDeliveries(
  client: pg.PoolClient,
  { postings, recorded }: { postings: readonly StatusPosting[]; recorded: readonly RecordedStatus[] },
  states: ReadonlyMap<string, GroupState>,
  open: OpenPipelines,
  after: ReadonlyMap<string, string>,
): Promise<NewDelivery[]> {
  const told = new Map<string, { pipeline: OpenPipeline; posting: StatusPosting; webhookIds: number[] }>()
  for (const [index, { status }] of recorded.entries()) {
    const posting = postings[index] as StatusPosting
    const webhookIds = states.get(groupKey(posting.label))?.pipelineWebhookIds ?? []
    const key = pipelineKey(status)
    const pipeline = open.get(key)
    if (!pipeline || webhookIds.length === 0 || after.get(key) === pipeline.before) continue
    told.set(key, { pipeline, posting, webhookIds })
  }
  const deliveries: NewDelivery[] = []
  for (const { pipeline, posting, webhookIds } of told.values()) {
    const found = await findPipelineWithJobs(client, pipeline.projectId, pipeline.id)
    if (!found) continue
    const delivery = posting.tellPipeline(found)
    deliveries.push(...webhookIds.map((webhookId) => ({ ...delivery, webhookId })))
  }
  return deliveries
}
