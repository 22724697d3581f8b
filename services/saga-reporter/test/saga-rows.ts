import type { Database } from '@switchyard/db'
import { errorFingerprint } from '@switchyard/domain/saga'

export interface GivenSaga {
  id: string
  tenant?: string
  serviceName?: string
  status?: string
  outcome?: string | null
  late?: boolean
  /** Unset: the time at which it was first seen. */
  startedAt?: Date
  firstSeenAt: Date
  lastEventAt?: Date
  endedAt?: Date | null
}

/** Creates rows of sagas with given times, without reporting events. */
export async function createSagas({ prisma }: Database, sagas: GivenSaga[]): Promise<void> {
  await prisma.saga.createMany({
    data: sagas.map(({ firstSeenAt, ...given }) => ({
      tenant: 'default',
      serviceName: 'booking',
      status: given.endedAt ? 'Ended' : 'Started',
      startedAt: firstSeenAt,
      lastEventAt: given.endedAt ?? firstSeenAt,
      ...given,
      firstSeenAt,
    })),
  })
}

export async function createTags(
  { pool }: Database,
  tags: { tenant?: string; sagaId: string; tag: string; firstSeenAt: Date }[],
): Promise<void> {
  for (const { tenant = 'default', sagaId, tag, firstSeenAt } of tags) {
    await pool.query('INSERT INTO saga_tags (tenant, saga_id, tag, first_seen_at) VALUES ($1, $2, $3, $4)', [
      tenant,
      sagaId,
      tag,
      firstSeenAt,
    ])
  }
}

/** Creates the rows for searching errors, for all created activities with errors and a saga. */
export async function createErrors({ pool }: Database): Promise<void> {
  const { rows } = await pool.query<{ tenant: string; id: string; text: string }>(
    `SELECT a.tenant, a.id, a.execute_errors AS text FROM saga_activities a
     JOIN sagas s ON s.tenant = a.tenant AND s.id = a.saga_id WHERE a.execute_errors IS NOT NULL`,
  )
  await pool.query(
    `INSERT INTO saga_errors (tenant, activity_id, saga_id, first_seen_at, failed_at, fingerprint, text, folded)
     SELECT a.tenant, a.id, a.saga_id, s.first_seen_at, a.last_event_at, given.fingerprint, a.execute_errors,
       lower(a.execute_errors)
     FROM unnest($1::text[], $2::text[], $3::text[]) AS given(tenant, id, fingerprint)
     JOIN saga_activities a USING (tenant, id) JOIN sagas s ON s.tenant = a.tenant AND s.id = a.saga_id`,
    [
      rows.map(({ tenant }) => tenant),
      rows.map(({ id }) => id),
      rows.map(({ text }) => errorFingerprint(text)),
    ],
  )
}

/** Returns the time that many minutes after a fixed instant. */
export const minute = (number: number): Date => new Date(Date.UTC(2026, 0, 1, 0, number))
