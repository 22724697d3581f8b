import type { Pooled } from '@switchyard/db'
import {
  type FlaggableActivity,
  type FlaggableSaga,
  type SagaFlag,
  sagaFlagKinds,
} from '@switchyard/domain/saga'
import { activityTable, sagaTable } from '@switchyard/saga-store'
import type { FlagCandidate } from './flag-sources-store.js'

/** The facts that determine the flags of a saga, or of an activity without a saga, and its current flags. */
export interface FlagState {
  tenant: string
  /** '' for an activity without a saga. */
  sagaId: string
  /** Null when there is no such saga. */
  saga: FlaggableSaga | null
  /**
   * All activities of the saga; or the single activity without a saga, unless it was removed or has joined a
   * saga meanwhile.
   */
  activities: FlaggableActivity[]
  flags: SagaFlag[]
}

/** A flag as a row. */
export interface FlagChange extends SagaFlag {
  tenant: string
  sagaId: string
  firstSeenAt: Date
}

export interface FlagChanges {
  set: FlagChange[]
  cleared: Omit<FlagChange, 'since' | 'firstSeenAt'>[]
}

/** A condition that every kind meets. It names the kinds, because they come before the saga in the index. */
export const ofAnyKind = `f.kind IN (${sagaFlagKinds.map((kind) => `'${kind}'`).join(', ')})`

interface ActivityRow extends FlaggableActivity {
  tenant: string
  sagaId: string
}

const sagaList = sagaTable.listOf('s', [
  'status',
  'outcome',
  'startedAt',
  'endedAt',
  'resolvedAt',
  'firstSeenAt',
  'lastEventAt',
])
const activityList = `a.tenant, COALESCE(a.saga_id, '') AS "sagaId",
  ${activityTable.listOf('a', ['id', 'status', 'anomalies', 'deadlineAt', 'firstSeenAt', 'lastEventAt'])}`

/** Returns the distinct states of these sagas and activities. */
export async function readFlagStates({ pool }: Pooled, keys: readonly FlagCandidate[]): Promise<FlagState[]> {
  const states = new Map(keys.map((key) => [stateKey(key), emptyState(key)]))
  const sagaKeys = keyArrays(
    [...states.values()].filter(({ sagaId }) => sagaId !== '').map(({ tenant, sagaId }) => [tenant, sagaId]),
  )
  const parkedKeys = keyArrays(
    keys.filter(({ sagaId }) => sagaId === '').map(({ tenant, activityId }) => [tenant, activityId]),
  )
  const given = 'unnest($1::text[], $2::text[]) AS given(tenant, id)'
  const [sagas, activities, flags] = await Promise.all([
    pool.query<FlaggableSaga & { tenant: string; sagaId: string }>(
      `SELECT s.tenant, s.id AS "sagaId", ${sagaList} FROM ${given} JOIN sagas s USING (tenant, id)`,
      sagaKeys,
    ),
    pool.query<ActivityRow>(
      `SELECT ${activityList} FROM ${given} JOIN saga_activities a ON a.tenant = given.tenant AND a.saga_id = given.id
       UNION ALL
       SELECT ${activityList} FROM unnest($3::text[], $4::text[]) AS given(tenant, id)
         JOIN saga_activities a USING (tenant, id) WHERE a.saga_id IS NULL`,
      [...sagaKeys, ...parkedKeys],
    ),
    pool.query<SagaFlag & { tenant: string; sagaId: string; activityId: string }>(
      `SELECT f.tenant, f.kind, f.saga_id AS "sagaId", f.activity_id AS "activityId", f.since
       FROM ${given} JOIN saga_flags f ON f.tenant = given.tenant AND f.saga_id = given.id
         AND ${ofAnyKind}
       UNION ALL
       SELECT f.tenant, f.kind, f.saga_id, f.activity_id, f.since
       FROM unnest($3::text[], $4::text[]) AS given(tenant, id)
         JOIN saga_flags f ON f.tenant = given.tenant AND f.saga_id = '' AND f.activity_id = given.id
         AND ${ofAnyKind}`,
      [...sagaKeys, ...parkedKeys],
    ),
  ])
  for (const { tenant, sagaId, ...saga } of sagas.rows) {
    const state = states.get(stateKey({ tenant, sagaId, activityId: '' }))
    if (state) state.saga = saga
  }
  for (const { tenant, sagaId, ...activity } of activities.rows)
    states.get(stateKey({ tenant, sagaId, activityId: activity.id }))?.activities.push(activity)
  for (const { tenant, sagaId, activityId, ...flag } of flags.rows)
    states
      .get(stateKey({ tenant, sagaId, activityId }))
      ?.flags.push({ ...flag, activityId: activityId === '' ? null : activityId })
  return [...states.values()]
}

/**
 * Returns the key of a state. A saga and its activities share one state; an activity without a saga has its
 * own.
 */
const stateKey = ({ tenant, sagaId, activityId }: FlagCandidate): string =>
  sagaId === '' ? `${tenant}\0\0${activityId}` : `${tenant}\0${sagaId}`

const emptyState = ({ tenant, sagaId }: FlagCandidate): FlagState => ({
  tenant,
  sagaId,
  saga: null,
  activities: [],
  flags: [],
})

const keyArrays = (keys: readonly (readonly [string, string])[]): [string[], string[]] => [
  keys.map(([tenant]) => tenant),
  keys.map(([, id]) => id),
]

/** Sets and clears flags atomically. A flag that is set again begins at its new time. */
export async function writeFlags({ pool }: Pooled, { set, cleared }: FlagChanges): Promise<void> {
  if (set.length === 0 && cleared.length === 0) return
  await pool.query(
    `WITH gone AS (
      DELETE FROM saga_flags f USING unnest($1::text[], $2::text[], $3::text[], $4::text[])
          AS given(tenant, kind, saga_id, activity_id)
        WHERE f.tenant = given.tenant AND f.kind = given.kind AND f.saga_id = given.saga_id
          AND f.activity_id = given.activity_id
    )
    INSERT INTO saga_flags AS stored (tenant, kind, saga_id, activity_id, since, first_seen_at)
    SELECT * FROM unnest($5::text[], $6::text[], $7::text[], $8::text[], $9::timestamptz[], $10::timestamptz[])
    ON CONFLICT (tenant, kind, saga_id, activity_id) DO UPDATE SET since = EXCLUDED.since, set_at = EXCLUDED.set_at`,
    [
      ...flagArrays(cleared),
      ...flagArrays(set),
      set.map(({ since }) => since),
      set.map(({ firstSeenAt }) => firstSeenAt),
    ],
  )
}

const flagArrays = (flags: readonly Omit<FlagChange, 'since' | 'firstSeenAt'>[]): string[][] => [
  flags.map(({ tenant }) => tenant),
  flags.map(({ kind }) => kind),
  flags.map(({ sagaId }) => sagaId),
  flags.map(({ activityId }) => activityId ?? ''),
]
