import type { JobIdentity } from '@switchyard/domain/access'
import { isActive, type StatusFields } from '@switchyard/domain/commit-status'
import type { NewDelivery, Recipient } from '@switchyard/webhooks'
import type { PipelineWithJobs } from '../pipelines/store.js'
import type { StatusAuthor, StatusKey, StatusName, StatusWithAuthor } from './store.js'

/** One posted status. */
export interface PostedStatus {
  /** The key of a new record. */
  key: StatusKey
  /**
   * Whether the post may change an active record of this commit and name with any ref: the record of the
   * key's ref first, otherwise the newest one. Without such a record, a new record gets the ref of the key.
   */
  anyRef: boolean
  author: StatusAuthor
  /** The CI job that posts; null: none. A record keeps the job and the author of its first post. */
  job: JobIdentity | null
  /** Computes the fields after the post. @param current the active record; null when there is none */
  apply(current: StatusFields | null, now: Date): StatusFields
  /** Makes the webhook delivery about a changed state. Called only when a webhook subscribes to it. */
  delivery(status: StatusWithAuthor): Omit<NewDelivery, 'webhookId'>
  /** Makes the webhook delivery about a changed state of the pipeline. */
  pipelineDelivery(pipeline: PipelineWithJobs): Omit<NewDelivery, 'webhookId'>
}

/**
 * The records that posts to one commit and name can change, and the project's webhooks that subscribe to
 * status changes.
 */
export interface NamedStatuses {
  /** The newest record of each relevant ref, oldest record first. */
  newest: StatusWithAuthor[]
  webhooks: Recipient[]
  pipelineWebhooks: Recipient[]
}

export interface RecordedStatus {
  status: StatusWithAuthor
  /** Whether the post changed the state; true for a new record. */
  changed: boolean
}

/** A record to write, with the fields after the last post. */
interface RecordToWrite {
  status: StatusWithAuthor
  /** Whether the record has no id yet. */
  isNew: boolean
}

/** The result of one post: the record after this post. */
interface Folded extends RecordedStatus {
  record: RecordToWrite
}

export interface FoldedPosts {
  /** Results in the order of the posts. */
  results: Folded[]
  toWrite: RecordToWrite[]
}

/** Returns the key of a commit and a status name. Posts with the same key are applied one after the other. */
export const nameKey = ({ projectId, sha, name }: StatusName): string =>
  JSON.stringify([projectId, sha, name])

/** Records by ref, oldest record first. */
type RecordsByRef = Map<string | null, RecordToWrite>

/** Applies posts in their order. A post to a finished record starts a new record. */
export function foldPosts(
  posts: readonly PostedStatus[],
  states: ReadonlyMap<string, NamedStatuses>,
  now: Date,
): FoldedPosts {
  const named = new Map<string, RecordsByRef>()
  for (const [key, { newest }] of states) {
    named.set(key, new Map(newest.map((status) => [status.ref, { status, isNew: false }])))
  }
  const toWrite = new Set<RecordToWrite>()
  const results = posts.map((post): Folded => {
    const records: RecordsByRef = named.get(nameKey(post.key)) ?? new Map()
    named.set(nameKey(post.key), records)
    const before = recordFor(post, records)
    const active = before && isActive(before.status.status) ? before : undefined
    const fields = post.apply((active?.status ?? null) as StatusFields | null, now)
    const changed = active?.status.status !== fields.status
    const record = active ?? begun(post, fields, now)
    record.status = { ...record.status, ...fields, updatedAt: now }
    if (!active) {
      if (before) {
        before.status = { ...before.status, superseded: true }
        toWrite.add(before)
      }
      records.delete(post.key.ref)
      records.set(post.key.ref, record)
    }
    toWrite.add(record)
    return { record, status: record.status, changed }
  })
  return { results, toWrite: [...toWrite] }
}

/** Returns the record that a post changes or supersedes. */
function recordFor({ key, anyRef }: PostedStatus, records: RecordsByRef): RecordToWrite | undefined {
  const own = records.get(key.ref)
  if (!anyRef || (own && isActive(own.status.status))) return own
  return [...records.values()].findLast(({ status }) => isActive(status.status)) ?? own
}

/**
 * Creates a record with the fields of its first post. The record gets its id and its pipeline when it is
 * written.
 */
const begun = ({ key, author, job }: PostedStatus, fields: StatusFields, now: Date): RecordToWrite => ({
  isNew: true,
  status: {
    id: 0n,
    ...key,
    ...fields,
    pipelineId: 0n,
    allowFailure: false,
    authorId: author.id,
    author,
    createdAt: now,
    updatedAt: now,
    superseded: false,
    job: job && { ...job },
  },
})
