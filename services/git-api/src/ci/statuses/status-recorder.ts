import {
  inPoolTransaction,
  isDatabaseUnavailable,
  type Pool,
  type PoolClient,
  type Pooled,
  sqlStateOf,
  sqlStates,
} from '@switchyard/db'
import { unavailable } from '@switchyard/domain'
import { createGroupCommit } from '@switchyard/service-kit/group-commit'
import { deliveriesTo, enqueueDeliveries, type NewDelivery, type Recipient } from '@switchyard/webhooks'
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
  type NamedStatuses,
  nameKey,
  type PostedStatus,
  type RecordedStatus,
} from './fold-posts.js'
import type { StatusWithAuthor } from './store.js'
import { addStatuses, beginWithLocks, changeStatuses, readNamedStatuses } from './write-store.js'

/**
 * The recorder of posted statuses: each post changes an active record or creates a new one. Posts to one
 * commit and name are applied one after the other across all processes, so parallel posts neither fail nor
 * create a second record.
 */
export interface StatusRecorder {
  /** @throws DomainError unavailable when too many posts wait, or the project is being deleted or renamed */
  record(post: PostedStatus): Promise<RecordedStatus>
}

/** Time after which the deletion or the renaming of a project may have ended. */
const retryAfterMs = 1_000

/** Records posts by group commit. A post may fail alone, for example because its project was deleted. */
export function createStatusRecorder({ pool }: Pooled): StatusRecorder {
  const { commit } = createGroupCommit<PostedStatus, RecordedStatus>({
    write: (posts) => recordPosts(pool, posts),
    failsEveryCall,
    subjectOf: ({ key }) => key.projectId,
    transactionsMax: 1,
    batch: { itemsMax: 200 },
    queue: { itemsMax: 10_000 },
    refusal: 'too many statuses wait',
  })
  return {
    async record(post) {
      const [recorded] = await commit([post]).catch((cause: unknown) => {
        if (sqlStateOf(cause) !== sqlStates.lockNotAvailable) throw cause
        throw unavailable('the project is being deleted or renamed', { retryAfterMs, cause })
      })
      return recorded as RecordedStatus
    },
  }
}

function failsEveryCall(error: unknown, posts: readonly PostedStatus[]): boolean {
  const state = sqlStateOf(error)
  // A project that is locked fails only its own posts.
  if (state === sqlStates.lockNotAvailable) return new Set(posts.map(({ key }) => key.projectId)).size === 1
  // One of the projects may be deleted at the same time, which can end the batch as a deadlock.
  return isDatabaseUnavailable(error) && state !== sqlStates.deadlockDetected
}

async function recordPosts(pool: Pool, posts: readonly PostedStatus[]): Promise<RecordedStatus[]> {
  const work = async (client: PoolClient) => {
    const states = await readNamedStatuses(client, posts)
    const now = new Date()
    const folded = foldPosts(posts, states, now)
    const statuses = folded.results.map(({ status }) => status)
    const open = await openPipelines(client, statuses, now)
    const recorded = await writeFolded(client, folded, open)
    const grown = folded.toWrite.filter(({ isNew }) => isNew).map(({ status }) => pipelineKey(status))
    const after = await updatePipelines(client, open, new Set(grown))
    const pipelines = await pipelineEvents(client, { posts, recorded }, states, open, after)
    await enqueueDeliveries(client, deliveriesOf([...statusEvents(posts, recorded, states), ...pipelines]))
    return recorded
  }
  return inPoolTransaction(pool, work, beginWithLocks(posts.map(({ key }) => key)))
}

async function writeFolded(
  client: PoolClient,
  { results, toWrite }: FoldedPosts,
  open: OpenPipelines,
): Promise<RecordedStatus[]> {
  const inPipeline = (status: StatusWithAuthor): StatusWithAuthor => ({
    ...status,
    pipelineId: open.get(pipelineKey(status))?.id ?? status.pipelineId,
  })
  const known = toWrite.filter(({ isNew }) => !isNew).map(({ status }) => status)
  const fresh = toWrite.filter(({ isNew }) => isNew)
  // Superseded records are changed first, because a unique index allows one newest record for each key.
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

/** An event, and the webhooks that receive it. */
interface ToldEvent {
  webhooks: readonly Recipient[]
  make: () => Omit<NewDelivery, 'webhookId'>
}

/** Yields the deliveries of events. Each body is made when it is stored, because all of them may be large. */
function* deliveriesOf(events: readonly ToldEvent[]): Generator<NewDelivery> {
  for (const { webhooks, make } of events) yield* deliveriesTo(webhooks, make())
}

const statusEvents = (
  posts: readonly PostedStatus[],
  recorded: readonly RecordedStatus[],
  states: Awaited<ReturnType<typeof readNamedStatuses>>,
): ToldEvent[] =>
  recorded.flatMap(({ status, changed }, index) => {
    const post = posts[index] as PostedStatus
    const webhooks = states.get(nameKey(post.key))?.webhooks ?? []
    return changed && webhooks.length > 0 ? [{ webhooks, make: () => post.delivery(status) }] : []
  })

/**
 * Returns the events of the pipelines whose state has changed. The last post to a pipeline makes each.
 *
 * @param recorded the results of the posts, in their order
 * @param after the states of the pipelines after the posts, by key
 */
async function pipelineEvents(
  client: PoolClient,
  { posts, recorded }: { posts: readonly PostedStatus[]; recorded: readonly RecordedStatus[] },
  states: ReadonlyMap<string, NamedStatuses>,
  open: OpenPipelines,
  after: ReadonlyMap<string, string>,
): Promise<ToldEvent[]> {
  const moved = new Map<string, { pipeline: OpenPipeline; post: PostedStatus; webhooks: Recipient[] }>()
  for (const [index, { status }] of recorded.entries()) {
    const post = posts[index] as PostedStatus
    const webhooks = states.get(nameKey(post.key))?.pipelineWebhooks ?? []
    const key = pipelineKey(status)
    const pipeline = open.get(key)
    if (!pipeline || webhooks.length === 0 || after.get(key) === pipeline.before) continue
    moved.set(key, { pipeline, post, webhooks })
  }
  const events: ToldEvent[] = []
  for (const { pipeline, post, webhooks } of moved.values()) {
    const found = await findPipelineWithJobs(client, pipeline.projectId, pipeline.id)
    if (found) events.push({ webhooks, make: () => post.pipelineDelivery(found) })
  }
  return events
}
