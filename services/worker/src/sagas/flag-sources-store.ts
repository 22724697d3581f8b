import type { Pooled } from '@switchyard/db'

/** A saga, or an activity without a saga (`sagaId` is ''), whose flags may need a change. */
export interface FlagCandidate {
  tenant: string
  sagaId: string
  activityId: string
}

export interface FlagPage {
  candidates: FlagCandidate[]
  /** The position at which the next page begins; null when there is no further page. */
  next: readonly string[] | null
}

/**
 * A query for candidates: rows in the order of an index, page by page. The rules of the domain decide which
 * candidates get a flag. A source may return rows that need no flag. What a source misses, another source
 * finds in a later round.
 */
export interface FlagSource {
  name: string
  /** The cutoff that limits the rows: see {@link FlagCutoffs}. */
  cutoff: keyof FlagCutoffs
  /**
   * Whether a new round may begin where the last one ended, because the rows are ordered by a time that only
   * moves forward.
   */
  isChronological: boolean
  /** Whether a run reads all pages within its time; otherwise it reads one page. */
  readsAllPages: boolean
  /** The position before the first row. */
  start: readonly string[]
  sql: string
}

export interface FlagCutoffs {
  /** Deadlines before this time have passed, including their grace. */
  overdue: Date
  /** Unfinished sagas without an event after this time are stuck or settled. */
  idle: Date
  /** Activities without a saga and sagas without a start that were first seen before this time are parked. */
  parked: Date
  /** The current time, for sources without a limit by time. */
  now: Date
}

const notFlagged = (kinds: string, sagaId: string, activityId?: string) =>
  `NOT EXISTS (SELECT FROM saga_flags f WHERE f.tenant = page.tenant AND f.kind IN (${kinds})
    AND f.saga_id = ${sagaId}${activityId === undefined ? '' : ` AND f.activity_id = ${activityId}`})`

/**
 * Returns the condition of a source with a time. Parameters: $1 to $3 the position, $4 the cutoff, $5 the
 * rows of a page.
 */
const afterTime = (column: string) =>
  `${column} <= $4 AND (${column}, tenant, id) > ($1::timestamptz, $2, $3)
    ORDER BY ${column}, tenant, id LIMIT $5`
const afterKey =
  "$1 = '' AND (tenant, id) > ($2, $3) AND $4::timestamptz IS NOT NULL ORDER BY tenant, id LIMIT $5"

const firstTime = ['-infinity', '', '']
const firstKey = ['', '', '']

/** Selects flags of a kind, to check whether their causes persist. */
const flagged = (kind: string): FlagSource => ({
  name: `flagged-${kind}`,
  cutoff: 'now',
  isChronological: false,
  readsAllPages: true,
  start: firstKey,
  sql: `SELECT tenant, saga_id AS "sagaId", activity_id AS "activityId", true AS candidate,
      ARRAY[tenant, saga_id, activity_id] AS position
    FROM saga_flags WHERE kind = '${kind}' AND (tenant, saga_id, activity_id) > ($1, $2, $3)
      AND $4::timestamptz IS NOT NULL
    ORDER BY tenant, saga_id, activity_id LIMIT $5`,
})

/** Selects flags of a kind that may have many rows, except flags of sagas without a newer event. */
const flaggedIdle = (kind: string): FlagSource => ({
  ...flagged(kind),
  cutoff: 'idle',
  sql: `SELECT page.tenant, page.saga_id AS "sagaId", '' AS "activityId",
      ARRAY[page.tenant, page.saga_id, page.activity_id] AS position,
      page.since > $4 OR s.id IS NULL OR s.status IN ('Ended', 'Error') OR s.last_event_at > page.since
        OR EXISTS (SELECT FROM saga_activities a WHERE a.tenant = page.tenant AND a.saga_id = page.saga_id
          AND a.last_event_at > page.since) AS candidate
    FROM (SELECT tenant, saga_id, activity_id, since FROM saga_flags
      WHERE kind = '${kind}' AND (tenant, saga_id, activity_id) > ($1, $2, $3)
      ORDER BY tenant, saga_id, activity_id LIMIT $5) page
    LEFT JOIN sagas s ON s.tenant = page.tenant AND s.id = page.saga_id
    ORDER BY page.tenant, page.saga_id, page.activity_id`,
})

/** Activities whose deadlines have passed. */
const deadlines: FlagSource = {
  name: 'deadlines',
  cutoff: 'overdue',
  isChronological: true,
  readsAllPages: true,
  start: firstTime,
  sql: `SELECT page.tenant, COALESCE(page.saga_id, '') AS "sagaId", page.id AS "activityId",
      ARRAY[page.deadline_at::text, page.tenant, page.id] AS position,
      page.status = 'Executing' AND ${notFlagged("'overdue'", "COALESCE(page.saga_id, '')", 'page.id')} AS candidate
    FROM (SELECT tenant, id, saga_id, status, deadline_at FROM saga_activities
      WHERE deadline_at IS NOT NULL AND ${afterTime('deadline_at')}) page
    ORDER BY page.deadline_at, page.tenant, page.id`,
}

/** Unfinished sagas without an event since the cutoff. */
const idle: FlagSource = {
  name: 'idle',
  cutoff: 'idle',
  isChronological: true,
  readsAllPages: true,
  start: firstTime,
  sql: `SELECT page.tenant, page.id AS "sagaId", '' AS "activityId",
      ARRAY[page.last_event_at::text, page.tenant, page.id] AS position,
      page.status <> 'Error' AND ${notFlagged("'stuck', 'settled'", 'page.id')} AS candidate
    FROM (SELECT tenant, id, status, last_event_at FROM sagas
      WHERE ended_at IS NULL AND ${afterTime('last_event_at')}) page
    ORDER BY page.last_event_at, page.tenant, page.id`,
}

/**
 * Every unfinished saga, in endless rounds, to find candidates that the other sources miss, such as an
 * activity that is retried after its deadline.
 */
const unfinished: FlagSource = {
  name: 'unfinished',
  cutoff: 'overdue',
  isChronological: false,
  readsAllPages: false,
  start: firstTime,
  sql: `SELECT page.tenant, page.id AS "sagaId", '' AS "activityId",
      ARRAY[page.last_event_at::text, page.tenant, page.id] AS position,
      EXISTS (SELECT FROM saga_activities a WHERE a.tenant = page.tenant AND a.saga_id = page.id
        AND a.status = 'Executing' AND a.deadline_at <= $4
        AND ${notFlagged("'overdue'", 'page.id', 'a.id')}) AS candidate
    FROM (SELECT tenant, id, last_event_at FROM sagas
      WHERE ended_at IS NULL AND (last_event_at, tenant, id) > ($1::timestamptz, $2, $3)
      ORDER BY last_event_at, tenant, id LIMIT $5) page
    ORDER BY page.last_event_at, page.tenant, page.id`,
}

/**
 * Every unfinished saga without recent events, in endless rounds, including sagas whose times a wrong clock
 * has set.
 */
const silent: FlagSource = { ...idle, name: 'silent', isChronological: false, readsAllPages: false }

/** Sagas whose start was not reported. */
const unstarted: FlagSource = {
  name: 'unstarted',
  cutoff: 'parked',
  isChronological: false,
  readsAllPages: true,
  start: firstTime,
  sql: `SELECT page.tenant, page.id AS "sagaId", '' AS "activityId",
      ARRAY[page.first_seen_at::text, page.tenant, page.id] AS position,
      ${notFlagged("'parked'", 'page.id')} AS candidate
    FROM (SELECT tenant, id, first_seen_at FROM sagas
      WHERE started_at IS NULL AND ended_at IS NULL AND ${afterTime('first_seen_at')}) page
    ORDER BY page.first_seen_at, page.tenant, page.id`,
}

/** Activities whose saga no event has named. */
const parked: FlagSource = {
  name: 'parked',
  cutoff: 'parked',
  isChronological: false,
  readsAllPages: true,
  start: firstTime,
  sql: `SELECT page.tenant, '' AS "sagaId", page.id AS "activityId",
      ARRAY[page.first_seen_at::text, page.tenant, page.id] AS position,
      ${notFlagged("'parked'", "''", 'page.id')} AS candidate
    FROM (SELECT tenant, id, first_seen_at FROM saga_activities
      WHERE saga_id IS NULL AND ${afterTime('first_seen_at')}) page
    ORDER BY page.first_seen_at, page.tenant, page.id`,
}

const contradictingSagas: FlagSource = {
  name: 'inconsistent',
  cutoff: 'now',
  isChronological: false,
  readsAllPages: true,
  start: firstKey,
  sql: `SELECT page.tenant, page.id AS "sagaId", '' AS "activityId", ARRAY['', page.tenant, page.id] AS position,
      ${notFlagged("'inconsistent'", 'page.id', "''")} AS candidate
    FROM (SELECT tenant, id FROM sagas WHERE outcome = 'inconsistent' AND ${afterKey}) page
    ORDER BY page.tenant, page.id`,
}

const contradictingActivities: FlagSource = {
  name: 'anomalies',
  cutoff: 'now',
  isChronological: false,
  readsAllPages: true,
  start: firstKey,
  sql: `SELECT page.tenant, COALESCE(page.saga_id, '') AS "sagaId", page.id AS "activityId",
      ARRAY['', page.tenant, page.id] AS position,
      ${notFlagged("'inconsistent'", "COALESCE(page.saga_id, '')", 'page.id')} AS candidate
    FROM (SELECT tenant, id, saga_id FROM saga_activities WHERE anomalies <> '{}' AND ${afterKey}) page
    ORDER BY page.tenant, page.id`,
}

/** The sources, most urgent first. */
export const flagSources: readonly FlagSource[] = [
  flagged('overdue'),
  deadlines,
  flagged('inconsistent'),
  contradictingSagas,
  contradictingActivities,
  flagged('parked'),
  unstarted,
  parked,
  flaggedIdle('stuck'),
  flaggedIdle('settled'),
  idle,
  silent,
  unfinished,
]

/** Reads one page of a source's candidates by its index alone. */
export async function readFlagPage(
  { pool }: Pooled,
  { sql, cutoff, start }: FlagSource,
  after: readonly string[] | null,
  cutoffs: FlagCutoffs,
  rowsMax: number,
): Promise<FlagPage> {
  const { rows } = await pool.query<FlagCandidate & { candidate: boolean; position: string[] }>(sql, [
    ...(after ?? start),
    cutoffs[cutoff],
    rowsMax,
  ])
  return {
    candidates: rows
      .filter(({ candidate }) => candidate)
      .map(({ tenant, sagaId, activityId }) => ({ tenant, sagaId, activityId })),
    next: rows.length < rowsMax ? null : (rows.at(-1)?.position ?? null),
  }
}
