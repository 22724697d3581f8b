import { isActive, type StatusFields } from '@switchyard/domain/commit-status'
import type { NewDelivery } from '../webhooks/deliveries.js'
import type { Pipeline } from './pipelines.js'
import type { StatusAuthor, StatusLabel, StatusWithAuthor } from './status-row.js'

/** One post to a label. */
export interface StatusPosting {
  label: StatusLabel
  author: StatusAuthor
  /** What the post makes of the active record, null when there is none. */
  apply(current: StatusFields | null, now: Date): StatusFields
  /** What webhooks are told when the state changed; asked for only when there are any. */
  tell(status: StatusWithAuthor): Omit<NewDelivery, 'webhookId'>
  /** What webhooks are told when the state of all statuses of the commit and ref together changed. */
  tellPipeline(pipeline: Pipeline): Omit<NewDelivery, 'webhookId'>
}

/** What a label's newest record is, and which webhooks of its project want to know. */
export interface LabelState {
  newest: StatusWithAuthor | null
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

/** Names a label; records of the same one are changed one after the other. */
export const labelKey = ({ projectId, sha, ref, name }: StatusLabel): string =>
  JSON.stringify([projectId, sha, ref, name])

/** Applies posts in their order. Where the newest record of a label is finished, the next post begins another one. */
export function foldPosts(
  postings: readonly StatusPosting[],
  states: ReadonlyMap<string, LabelState>,
  now: Date,
): FoldedPosts {
  const records = new Map<string, DirtyRecord>()
  const dirty = new Set<DirtyRecord>()
  for (const [key, { newest }] of states) if (newest) records.set(key, { status: newest, isNew: false })
  const results = postings.map((posting): Folded => {
    const key = labelKey(posting.label)
    const before = records.get(key)
    const active = before && isActive(before.status.status) ? before : undefined
    const fields = posting.apply((active?.status ?? null) as StatusFields | null, now)
    const changed = active?.status.status !== fields.status
    const record = active ?? begun(posting, now)
    record.status = { ...record.status, ...fields, updatedAt: now }
    if (before && !active) {
      before.status = { ...before.status, superseded: true }
      dirty.add(before)
    }
    records.set(key, record)
    dirty.add(record)
    return { record, status: record.status, changed }
  })
  return { results, dirty: [...dirty] }
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
