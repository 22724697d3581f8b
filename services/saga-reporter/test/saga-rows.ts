import type { Database } from '@switchyard/db'

export interface GivenSaga {
  id: string
  tenant?: string
  serviceName?: string
  status?: string
  outcome?: string | null
  late?: boolean
  /** Unset: when it was first seen. */
  startedAt?: Date
  firstSeenAt: Date
  lastEventAt?: Date
  endedAt?: Date | null
}

/** Sagas as they are after some life, without living it: rows at times of their own. */
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
      ...[tenant, sagaId, tag, firstSeenAt],
    ])
  }
}

/** Minutes after a fixed instant. */
export const minute = (number: number): Date => new Date(Date.UTC(2026, 0, 1, 0, number))
