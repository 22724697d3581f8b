import { createHash } from 'node:crypto'
import type { PoolClient } from '@switchyard/db'
import { queryOf } from '@switchyard/db/sql'
import { activeStates } from '@switchyard/domain/commit-status'
import type { Recipient } from '@switchyard/webhooks'
import { type NamedStatuses, nameKey, type PostedStatus } from './fold-posts.js'
import {
  insertStatuses,
  type StatusName,
  type StatusRow,
  type StatusWithAuthor,
  statusColumns,
  statusOf,
  updateStatuses,
} from './store.js'

/** Longest wait for a project that is being deleted or renamed. Posts to other projects wait meanwhile. */
const projectWaitMs = 300

/**
 * Returns the statement that begins a transaction and locks the names of statuses and their projects until
 * its end. It takes the locks in the order of their numbers, so writers with several names cannot deadlock.
 * The lock of a project lets it be changed, but not deleted, and fails as `lockNotAvailable`. It is waited
 * for only when no other project would wait with it.
 */
export function beginWithLocks(names: readonly StatusName[]): string {
  const numbers = [...new Set(names.map((name) => lockNumber(nameKey(name))))].sort((a, b) =>
    a < b ? -1 : 1,
  )
  const projectIds = new Set(names.map(({ projectId }) => projectId))
  const patience = projectIds.size > 1 ? 'NOWAIT' : ''
  return `BEGIN;
    SELECT pg_advisory_xact_lock(number) FROM unnest('{${numbers.join(',')}}'::bigint[]) AS number;
    SET LOCAL lock_timeout = ${projectWaitMs};
    SELECT FROM projects WHERE id IN (${[...projectIds].join(',')}) ORDER BY id FOR KEY SHARE ${patience};
    SET LOCAL lock_timeout = DEFAULT`
}

const lockNumber = (key: string): bigint => createHash('sha256').update(key).digest().readBigInt64LE()

function webhooksOf(event: 'job' | 'pipeline'): string {
  return `(
      SELECT coalesce(jsonb_agg(jsonb_build_object('id', w.id, 'bodyTemplate', w.body_template,
        'messageFormat', w.message_format)), '[]')
      FROM webhooks w
      WHERE w.project_id = post.project_id AND w.scope = 'project' AND w.enabled AND '${event}' = ANY (w.events)
    )`
}

/**
 * A query for the newest record of each key and, with `any_ref`, the newest active records of other refs,
 * at most one for each post. A null ref is compared separately, because `IS NOT DISTINCT FROM` uses no index.
 */
const newestOfKeys = `SELECT given.webhooks,
    given.pipeline_webhooks AS "pipelineWebhooks", given.number, ${statusColumns}
  FROM (
    SELECT *, ${webhooksOf('job')} AS webhooks, ${webhooksOf('pipeline')} AS pipeline_webhooks
    FROM unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::boolean[]) WITH ORDINALITY
      AS post (project_id, sha, ref, name, any_ref, number)
  ) given
  LEFT JOIN LATERAL (
    SELECT * FROM commit_statuses
    WHERE project_id = given.project_id AND sha = given.sha AND ref = given.ref AND name = given.name
      AND NOT superseded
    UNION ALL
    SELECT * FROM commit_statuses
    WHERE given.ref IS NULL AND project_id = given.project_id AND sha = given.sha AND ref IS NULL
      AND name = given.name AND NOT superseded
    UNION ALL
    (SELECT * FROM commit_statuses
    WHERE given.any_ref AND project_id = given.project_id AND sha = given.sha AND name = given.name
      AND ref IS DISTINCT FROM given.ref AND NOT superseded AND status = ANY ($6)
    ORDER BY id DESC LIMIT $7)
  ) s ON true
  LEFT JOIN users u ON u.id = s.author_id
  ORDER BY s.id`

interface ReadRow extends Omit<StatusRow, 'id'> {
  webhooks: Recipient[]
  pipelineWebhooks: Recipient[]
  /** Number of the post, from 1. */
  number: string
  /** Null when the key has no record. */
  id: string | null
}

/** @returns the statuses of each name that the posts are about, by {@link nameKey} */
export async function readNamedStatuses(
  client: PoolClient,
  posts: readonly PostedStatus[],
): Promise<Map<string, NamedStatuses>> {
  const distinct = [...new Map(posts.map((post) => [postKey(post), post])).values()]
  const { rows } = await client.query<ReadRow>({
    name: 'newest-of-status-keys',
    text: newestOfKeys,
    values: [
      distinct.map(({ key }) => key.projectId),
      distinct.map(({ key }) => key.sha),
      distinct.map(({ key }) => key.ref),
      distinct.map(({ key }) => key.name),
      distinct.map(({ anyRef }) => anyRef),
      activeStates,
      posts.length,
    ],
  })
  const found = new Map<string, NamedStatuses>()
  for (const { webhooks, pipelineWebhooks, number, id, ...columns } of rows) {
    const key = nameKey((distinct[Number(number) - 1] as PostedStatus).key)
    const statuses = found.get(key) ?? { newest: [], webhooks, pipelineWebhooks }
    if (id !== null) statuses.newest.push(statusOf({ ...columns, id }))
    found.set(key, statuses)
  }
  return found
}

const postKey = ({ key: { projectId, sha, ref, name }, anyRef }: PostedStatus): string =>
  JSON.stringify([projectId, sha, ref, name, anyRef])

export async function changeStatuses(
  client: PoolClient,
  statuses: readonly StatusWithAuthor[],
): Promise<void> {
  if (statuses.length === 0) return
  await client.query(queryOf(updateStatuses, statuses))
}

/** @returns the new ids in the order of the statuses */
export async function addStatuses(
  client: PoolClient,
  statuses: readonly StatusWithAuthor[],
): Promise<bigint[]> {
  if (statuses.length === 0) return []
  const { rows } = await client.query<{ id: string }>(queryOf(insertStatuses, statuses))
  return rows.map(({ id }) => BigInt(id)).sort((a, b) => (a < b ? -1 : 1))
}
