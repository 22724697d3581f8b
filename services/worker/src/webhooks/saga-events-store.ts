import type { Pooled } from '@switchyard/db'
import { operationNames, operations } from '@switchyard/domain/saga'
import { sagaTable } from '@switchyard/saga-store'
import type { FailedActivity, SagaNews } from '@switchyard/webhooks'

/** The position up to which webhooks have read the saga event log and the flags. */
export interface SagaCursor {
  /** Id of the last event that was read; bigint as text. */
  position: string
  /** Time up to which set flags have been read. */
  flagsSetAt: Date
  /** Current time of the database. */
  now: Date
}

export async function readSagaCursor({ pool }: Pooled): Promise<SagaCursor> {
  const { rows } = await pool.query<SagaCursor>(
    `SELECT position, flags_set_at AS "flagsSetAt", now() FROM webhook_cursors WHERE name = 'sagas'`,
  )
  if (!rows[0]) throw new Error('webhook_cursors lacks its row for sagas, which the migration makes')
  return rows[0]
}

/** Stores that the events up to this id have been read. A lower id changes nothing. */
export async function advanceSagaCursor({ pool }: Pooled, position: string): Promise<void> {
  await pool.query(`UPDATE webhook_cursors SET position = GREATEST(position, $1) WHERE name = 'sagas'`, [
    position,
  ])
}

/** Stores that flags set up to this time have been read. An earlier time changes nothing. */
export async function advanceFlagCursor({ pool }: Pooled, setAt: Date): Promise<void> {
  await pool.query(
    `UPDATE webhook_cursors SET flags_set_at = GREATEST(flags_set_at, $1) WHERE name = 'sagas'`,
    [setAt],
  )
}

/** An enabled webhook of sagas. */
export interface SagaWebhook {
  id: number
  tenant: string
  events: string[]
  serviceName: string | null
  bodyTemplate: string | null
  messageFormat: string | null
}

export interface SagaFlagNews {
  tenant: string
  kind: string
  /** Empty for an activity without a saga. */
  sagaId: string
  /** Empty for a flag of the saga itself. */
  activityId: string
  since: Date
  setAt: Date
}

/** Key of the last flag of a page. */
export type FlagKey = Pick<SagaFlagNews, 'setAt' | 'tenant' | 'kind' | 'sagaId' | 'activityId'>

export async function listSagaWebhooks({ pool }: Pooled): Promise<SagaWebhook[]> {
  const { rows } = await pool.query<SagaWebhook>(
    `SELECT id, tenant, events, service_name AS "serviceName", body_template AS "bodyTemplate",
       message_format AS "messageFormat"
     FROM webhooks WHERE scope = 'saga' AND enabled`,
  )
  return rows
}

const sagaColumns = `s.tenant, ${sagaTable.listOf('s', [
  'id',
  'serviceName',
  'status',
  'outcome',
  'firstSeenAt',
  'startedAt',
  'endedAt',
  'resolvedAt',
  'lastEventAt',
])}`

const finishing = operationNames.filter((name) => operations[name].mayFinishSaga)

/**
 * Lists sagas of a tenant that are Ended, Error or resolved and have an event with an id in (`after`,
 * `upTo`], which may be the cause.
 */
export async function listFinishedSagas(
  { pool }: Pooled,
  tenant: string,
  range: { after: string; upTo: string },
): Promise<SagaNews[]> {
  const { rows } = await pool.query<SagaNews>({
    name: 'webhook-finished-sagas',
    text: `SELECT ${sagaColumns} FROM sagas s
      WHERE s.tenant = $1 AND (s.status IN ('Ended', 'Error') OR s.resolved_at IS NOT NULL) AND s.id IN (
        SELECT e.saga_id FROM saga_events e
        WHERE e.tenant = $1 AND e.id > $2 AND e.id <= $3 AND e.operation = ANY ($4) AND e.saga_id IS NOT NULL)`,
    values: [tenant, range.after, range.upTo, finishing],
  })
  return rows
}

export async function listSagaNews({ pool }: Pooled, tenant: string, ids: string[]): Promise<SagaNews[]> {
  const { rows } = await pool.query<SagaNews>(
    `SELECT ${sagaColumns} FROM sagas s WHERE s.tenant = $1 AND s.id = ANY ($2)`,
    [tenant, ids],
  )
  return rows
}

/** Lists the activities of these sagas with errors, in their order, at most `ofEachMax` of each saga. */
export async function listFailedActivities(
  { pool }: Pooled,
  tenant: string,
  sagaIds: string[],
  { ofEachMax, textMax }: { ofEachMax: number; textMax: number },
): Promise<FailedActivity[]> {
  const { rows } = await pool.query<FailedActivity>(
    `SELECT a.id, a.saga_id AS "sagaId", a.status, left(a.execute_errors, $4) AS "executeErrors",
       left(a.compensate_errors, $4) AS "compensateErrors"
     FROM unnest($2::text[]) AS wanted (saga_id)
     CROSS JOIN LATERAL (
       SELECT * FROM saga_activities WHERE tenant = $1 AND saga_id = wanted.saga_id
         AND (execute_errors IS NOT NULL OR compensate_errors IS NOT NULL)
       ORDER BY "order", id LIMIT $3
     ) a`,
    [tenant, sagaIds, ofEachMax, textMax],
  )
  return rows
}

/**
 * Lists flags in the order in which they were set, from `setSince` or after the last flag of the previous
 * page.
 */
export async function listNewFlags(
  { pool }: Pooled,
  { setSince, after, rowsMax }: { setSince: Date; after: FlagKey | null; rowsMax: number },
): Promise<SagaFlagNews[]> {
  const { rows } = await pool.query<SagaFlagNews>(
    `SELECT tenant, kind, saga_id AS "sagaId", activity_id AS "activityId", since, set_at AS "setAt"
     FROM saga_flags
     WHERE set_at >= $1 AND (set_at, tenant, kind, saga_id, activity_id) > ($1, $2, $3, $4, $5)
     ORDER BY set_at, tenant, kind, saga_id, activity_id LIMIT $6`,
    [
      after?.setAt ?? setSince,
      after?.tenant ?? '',
      after?.kind ?? '',
      after?.sagaId ?? '',
      after?.activityId ?? '',
      rowsMax,
    ],
  )
  return rows
}
