import type { Pooled } from '@switchyard/db'
import { leaseEnd, leaseRows } from '@switchyard/db/sql'
import type { JobIdentity, RefChange } from '@switchyard/domain/access'

/** A planned change of a reference, which may or may not happen. */
interface Intent extends RefChange {
  /** A UUID, which also identifies the event among deliveries. */
  id: string
}

export interface ClaimedIntent extends Intent {
  projectId: number
  /** Data that the deliveries show beside the change. */
  about: unknown
  recordedMsAgo: number
}

const insert = {
  name: 'record-intents',
  text: `INSERT INTO foreseen_changes (id, project_id, ref, before, after, about, look_at)
    SELECT id, $6, ref, before, after, $7, now() + $8 * interval '1 ms'
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[]) AS given (id, ref, before, after, event)
    WHERE EXISTS (
      SELECT FROM webhooks WHERE scope = 'project' AND project_id = $6 AND enabled AND given.event = ANY (events))
    RETURNING id`,
}

/**
 * Stores, before they happen, the changes that the project's webhooks are to receive.
 *
 * @param changes `event`: `push` or `tag_push`
 * @param about data that the deliveries show beside the change
 * @param lookInMs time after which {@link claimIntents} finds the changes that are not deleted before
 * @returns ids of the stored changes
 */
export async function storeIntents(
  { pool }: Pooled,
  changes: readonly (Intent & { event: string })[],
  { projectId, about, lookInMs }: { projectId: number; about: object; lookInMs: number },
): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>({
    ...insert,
    values: [
      changes.map(({ id }) => id),
      changes.map(({ ref }) => ref),
      changes.map(({ before }) => before),
      changes.map(({ after }) => after),
      changes.map(({ event }) => event),
      projectId,
      JSON.stringify(about),
      lookInMs,
    ],
  })
  return rows.map(({ id }) => id)
}

export async function forgetIntents({ pool }: Pooled, ids: readonly string[]): Promise<void> {
  const text = 'DELETE FROM foreseen_changes WHERE id = ANY ($1::uuid[])'
  await pool.query({ name: 'forget-intents', text, values: [ids] })
}

const claim = {
  name: 'claim-intents',
  text: leaseRows({
    table: 'foreseen_changes',
    keys: ['id'],
    free: 'leased.look_at <= now() AND leased.project_id IN (SELECT id FROM projects WHERE storage = $3)',
    order: 'leased.look_at',
    set: `look_at = ${leaseEnd('$2')}`,
    select: `SELECT id, project_id AS "projectId", ref, before, after, about,
      (extract(epoch FROM now() - foreseen_at) * 1000)::float8 AS "recordedMsAgo" FROM leased`,
  }),
}

/**
 * Claims remaining changes of the repositories of a storage, oldest first. A claim ends after `againInMs`.
 */
export async function claimIntents(
  { pool }: Pooled,
  { storage, rowsMax, againInMs }: { storage: string; rowsMax: number; againInMs: number },
): Promise<ClaimedIntent[]> {
  const { rows } = await pool.query<ClaimedIntent>({ ...claim, values: [rowsMax, againInMs, storage] })
  return rows
}

/** Stores the job that pushed these commits. A commit that was pushed before keeps its job. */
export async function storeJobCommits(
  { pool }: Pooled,
  projectId: number,
  { shas, job }: { shas: readonly string[]; job: JobIdentity },
): Promise<void> {
  await pool.query({
    name: 'store-job-commits',
    text: `INSERT INTO job_commits (project_id, sha, job) SELECT $1, sha, $3 FROM unnest($2::text[]) AS sha
      ON CONFLICT DO NOTHING`,
    values: [projectId, shas, JSON.stringify(job)],
  })
}

/** Returns the job that pushed a commit; null: no job did. */
export async function findJobOfCommit(
  { pool }: Pooled,
  projectId: number,
  sha: string,
): Promise<JobIdentity | null> {
  const text = 'SELECT job FROM job_commits WHERE project_id = $1 AND sha = $2'
  const { rows } = await pool.query<{ job: JobIdentity }>({
    name: 'job-of-commit',
    text,
    values: [projectId, sha],
  })
  return rows[0]?.job ?? null
}
