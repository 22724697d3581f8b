import type { JobIdentity } from '@switchyard/domain/access'
import { isActive, type StatusFields } from '@switchyard/domain/commit-status'
import type { NewDelivery, Recipient } from '@switchyard/webhooks'
import type { PipelineWithJobs } from '../pipelines/store.js'
import type { StatusAuthor, StatusLabel, StatusWithAuthor } from './store.js'

/** One posted status. */
export interface StatusPosting {
  /** The label for a new record. */
  label: StatusLabel
  /**
   * Whether the post may change an active record of this commit and name with any ref: the record of the
   * label's ref first, otherwise the newest one. Without such a record, a new record gets the ref of the
   * label.
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
export interface GroupState {
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
interface DirtyRecord {
  status: StatusWithAuthor
  /** Whether the record has no id yet. */
  isNew: boolean
}

/** The result of one post: the record after this post. */
interface Folded extends RecordedStatus {
  record: DirtyRecord
}

export interface FoldedPosts {
  /** Results in the order of the posts. */
  results: Folded[]
  dirty: DirtyRecord[]
}

/** Returns the key of a commit and a status name. Posts with the same key are applied one after the other. */
export const groupKey = ({ projectId, sha, name }: Omit<StatusLabel, 'ref'>): string =>
  JSON.stringify([projectId, sha, name])

/** Records by ref, oldest record first. */
type RecordsByRef = Map<string | null, DirtyRecord>

/** Applies posts in their order. A post to a finished record starts a new record. */
export function foldPosts(
  postings: readonly StatusPosting[],
  states: ReadonlyMap<string, GroupState>,
  now: Date,
): FoldedPosts {
  const groups = new Map<string, RecordsByRef>()
  for (const [key, { newest }] of states) {
    groups.set(key, new Map(newest.map((status) => [status.ref, { status, isNew: false }])))
  }
  const dirty = new Set<DirtyRecord>()
  const results = postings.map((posting): Folded => {
    const records: RecordsByRef = groups.get(groupKey(posting.label)) ?? new Map()
    groups.set(groupKey(posting.label), records)
    const before = recordFor(posting, records)
    const active = before && isActive(before.status.status) ? before : undefined
    const fields = posting.apply((active?.status ?? null) as StatusFields | null, now)
    const changed = active?.status.status !== fields.status
    const record = active ?? begun(posting, fields, now)
    record.status = { ...record.status, ...fields, updatedAt: now }
    if (!active) {
      if (before) {
        before.status = { ...before.status, superseded: true }
        dirty.add(before)
      }
      records.delete(posting.label.ref)
      records.set(posting.label.ref, record)
    }
    dirty.add(record)
    return { record, status: record.status, changed }
  })
  return { results, dirty: [...dirty] }
}

/** Returns the record that a post changes or supersedes. */
function recordFor({ label, anyRef }: StatusPosting, records: RecordsByRef): DirtyRecord | undefined {
  const own = records.get(label.ref)
  if (!anyRef || (own && isActive(own.status.status))) return own
  return [...records.values()].findLast(({ status }) => isActive(status.status)) ?? own
}

/**
 * Creates a record with the fields of its first post. The record gets its id and its pipeline when it is
 * written.
 */
const begun = ({ label, author, job }: StatusPosting, fields: StatusFields, now: Date): DirtyRecord => ({
  isNew: true,
  status: {
    id: 0n,
    ...label,
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
