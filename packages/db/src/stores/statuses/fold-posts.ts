import { isActive, type StatusFields } from '@switchyard/domain/commit-status'
import type { NewDelivery } from '../webhooks/deliveries.js'
import type { Pipeline } from './pipelines.js'
import type { StatusAuthor, StatusLabel, StatusWithAuthor } from './status-row.js'

/** One post. */
export interface StatusPosting {
  /** Where a new record belongs. */
  label: StatusLabel
  /**
   * The post changes an active record of this commit and name whatever its ref: that of the label's ref, else the
   * newest. Only without one it begins a record with the ref of the label.
   */
  anyRef: boolean
  author: StatusAuthor
  /** What the post makes of the active record, null when there is none. */
  apply(current: StatusFields | null, now: Date): StatusFields
  /** What webhooks are told when the state changed; asked for only when there are any. */
  tell(status: StatusWithAuthor): Omit<NewDelivery, 'webhookId'>
  /** What webhooks are told when the state of all statuses of the commit and ref together changed. */
  tellPipeline(pipeline: Pipeline): Omit<NewDelivery, 'webhookId'>
}

/** The records that posts to one commit and name can change, and which webhooks of the project want to know. */
export interface GroupState {
  /** The newest record of each ref that is of interest, in the order in which the records were made. */
  newest: StatusWithAuthor[]
  webhookIds: number[]
  pipelineWebhookIds: number[]
}

export interface RecordedStatus {
  status: StatusWithAuthor
  /** Whether the state is another one than before; true for a new record. */
  changed: boolean
}

/** A record that has to be written, in its last state. */
interface DirtyRecord {
  status: StatusWithAuthor
  /** No id yet. */
  isNew: boolean
}

/** What becomes of one post: the record as this post left it. */
interface Folded extends RecordedStatus {
  record: DirtyRecord
}

export interface FoldedPosts {
  /** In the order of the posts. */
  results: Folded[]
  dirty: DirtyRecord[]
}

/** Names all records of one commit and name; they are changed one after the other. */
export const groupKey = ({ projectId, sha, name }: Omit<StatusLabel, 'ref'>): string =>
  JSON.stringify([projectId, sha, name])

/** By ref, in the order in which the records were made. */
type RecordsByRef = Map<string | null, DirtyRecord>

/** Applies posts in their order. Where the record that a post means is finished, the post begins another one. */
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
    const record = active ?? begun(posting, now)
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

/** The record that a post changes or follows. */
function recordFor({ label, anyRef }: StatusPosting, records: RecordsByRef): DirtyRecord | undefined {
  const own = records.get(label.ref)
  if (!anyRef || (own && isActive(own.status.status))) return own
  return [...records.values()].findLast(({ status }) => isActive(status.status)) ?? own
}

/** A record without an id, before its first post is applied. */
const begun = ({ label, author }: StatusPosting, now: Date): DirtyRecord => ({
  isNew: true,
  status: {
    id: 0n,
    ...label,
    stage: 'external',
    status: '',
    description: null,
    targetUrl: null,
    coverage: null,
    allowFailure: false,
    authorId: author.id,
    author,
    createdAt: now,
    updatedAt: now,
    startedAt: null,
    finishedAt: null,
    superseded: false,
  },
})
