import { createHash } from 'node:crypto'
import type pg from 'pg'
import { type LabelState, labelKey } from './fold-posts.js'
import {
  type StatusLabel,
  type StatusRow,
  type StatusWithAuthor,
  statusColumns,
  statusOf,
} from './status-row.js'

/**
 * Begins a transaction that is alone with these labels until it ends. Locks are taken in the order of their
 * numbers, so that writers with several labels never wait for each other in a circle.
 */
export function beginAlone(labelKeys: readonly string[]): string {
  return `BEGIN; ${lockQuery(labelKeys)}`
}

/**
 * Waits until the transaction is alone with these, too. Only for what every writer locks after its labels.
 */
export async function lockAlone(client: pg.PoolClient, keys: readonly string[]): Promise<void> {
  await client.query(lockQuery(keys))
}

function lockQuery(keys: readonly string[]): string {
  const numbers = [...new Set(keys.map(lockNumber))].sort((a, b) => (a < b ? -1 : 1))
  return `SELECT pg_advisory_xact_lock(number) FROM unnest('{${numbers.join(',')}}'::bigint[]) AS number`
}

const lockNumber = (key: string): bigint => createHash('sha256').update(key).digest().readBigInt64LE()

function webhooksOf(event: string): string {
  return `ARRAY(
      SELECT w.id FROM webhooks w
      WHERE w.project_id = label.project_id AND w.scope = 'project' AND w.enabled AND ${event} = ANY (w.events)
    )`
}

/** A null ref is compared by itself, because `IS NOT DISTINCT FROM` uses no index. */
const newestOfLabels = `SELECT given.webhook_ids AS "webhookIds",
    given.pipeline_webhook_ids AS "pipelineWebhookIds", given.number, ${statusColumns}
  FROM (
    SELECT *, ${webhooksOf('$5')} AS webhook_ids, ${webhooksOf('$6')} AS pipeline_webhook_ids
    FROM unnest($1::int[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY
      AS label (project_id, sha, ref, name, number)
  ) given
  LEFT JOIN LATERAL (
    SELECT * FROM commit_statuses
    WHERE project_id = given.project_id AND sha = given.sha AND ref = given.ref AND name = given.name
      AND NOT superseded
    UNION ALL
    SELECT * FROM commit_statuses
    WHERE given.ref IS NULL AND project_id = given.project_id AND sha = given.sha AND ref IS NULL
      AND name = given.name AND NOT superseded
  ) s ON true
  LEFT JOIN users u ON u.id = s.author_id`

/** The events that webhooks of projects must ask for to be told of changed states. */
export interface StatusEvents {
  /** Of a status. */
  job: string
  /** Of all statuses of a commit and ref together. */
  pipeline: string
}

/** @param labels each one once */
export async function readNewest(
  client: pg.PoolClient,
  labels: readonly StatusLabel[],
  { job, pipeline }: StatusEvents,
): Promise<Map<string, LabelState>> {
  const { rows } = await client.query<Omit<StatusRow, 'id'> & { id: string | null } & ReadState>({
    name: 'newest-of-status-labels',
    text: newestOfLabels,
    values: [
      labels.map(({ projectId }) => projectId),
      labels.map(({ sha }) => sha),
      labels.map(({ ref }) => ref),
      labels.map(({ name }) => name),
      job,
      pipeline,
    ],
  })
  return new Map(
    rows.map(({ webhookIds, pipelineWebhookIds, number, id, ...columns }) => {
      const label = labels[Number(number) - 1] as StatusLabel
      return [
        labelKey(label),
        { webhookIds, pipelineWebhookIds, newest: id === null ? null : statusOf({ ...columns, id }) },
      ]
    }),
  )
}

interface ReadState {
  webhookIds: number[]
  pipelineWebhookIds: number[]
  /** Of the label, from 1. */
  number: string
}

const changed = {
  name: 'change-statuses',
  text: `UPDATE commit_statuses s SET status = given.status, description = given.description,
      target_url = given.target_url, coverage = given.coverage, updated_at = given.updated_at,
      started_at = given.started_at, finished_at = given.finished_at, superseded = given.superseded
    FROM unnest($1::int[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::float8[], $7::timestamptz[],
        $8::timestamptz[], $9::timestamptz[], $10::boolean[])
      AS given (project_id, id, status, description, target_url, coverage, updated_at, started_at, finished_at, superseded)
    WHERE s.project_id = given.project_id AND s.id = given.id`,
}

export async function changeStatuses(
  client: pg.PoolClient,
  statuses: readonly StatusWithAuthor[],
): Promise<void> {
  if (statuses.length === 0) return
  await client.query({
    ...changed,
    values: [
      statuses.map(({ projectId }) => projectId),
      statuses.map(({ id }) => String(id)),
      ...fieldsOf(statuses),
    ],
  })
}

const added = {
  name: 'add-statuses',
  text: `INSERT INTO commit_statuses (status, description, target_url, coverage, updated_at, started_at, finished_at,
      superseded, project_id, sha, ref, name, author_id, created_at)
    SELECT status, description, target_url, coverage, updated_at, started_at, finished_at, superseded, project_id, sha,
      ref, name, author_id, created_at
    FROM unnest($1::text[], $2::text[], $3::text[], $4::float8[], $5::timestamptz[], $6::timestamptz[],
        $7::timestamptz[], $8::boolean[], $9::int[], $10::text[], $11::text[], $12::text[], $13::int[],
        $14::timestamptz[])
      WITH ORDINALITY AS given (status, description, target_url, coverage, updated_at, started_at, finished_at,
        superseded, project_id, sha, ref, name, author_id, created_at, number)
    ORDER BY number RETURNING id`,
}

/** @returns the new ids in the order of the statuses */
export async function addStatuses(
  client: pg.PoolClient,
  statuses: readonly StatusWithAuthor[],
): Promise<bigint[]> {
  if (statuses.length === 0) return []
  const { rows } = await client.query<{ id: string }>({
    ...added,
    values: [
      ...fieldsOf(statuses),
      statuses.map(({ projectId }) => projectId),
      statuses.map(({ sha }) => sha),
      statuses.map(({ ref }) => ref),
      statuses.map(({ name }) => name),
      statuses.map(({ authorId }) => authorId),
      statuses.map(({ createdAt }) => createdAt),
    ],
  })
  return rows.map(({ id }) => BigInt(id)).sort((a, b) => (a < b ? -1 : 1))
}

const fieldsOf = (statuses: readonly StatusWithAuthor[]) => [
  statuses.map(({ status }) => status),
  statuses.map(({ description }) => description),
  statuses.map(({ targetUrl }) => targetUrl),
  statuses.map(({ coverage }) => coverage),
  statuses.map(({ updatedAt }) => updatedAt),
  statuses.map(({ startedAt }) => startedAt),
  statuses.map(({ finishedAt }) => finishedAt),
  statuses.map(({ superseded }) => superseded),
]
