import type { SagaFlag, SagaFlagKind, SagaStatus } from '@switchyard/domain/saga'
import { lastEvent } from './conditions.js'

/** A saga as readers see it. */
export interface SagaView {
  tenant: string
  id: string
  serviceName: string | null
  status: SagaStatus
  outcome: string | null
  late: boolean
  addTime: Date | null
  startedAt: Date | null
  endedAt: Date | null
  expiresAt: Date | null
  /** When an operator resolved it, and who. */
  resolvedAt: Date | null
  resolvedBy: string | null
  firstSeenAt: Date
  /** Of the saga and of its activities. */
  lastEventAt: Date
  tags: string[]
  flags: SagaFlag[]
}

/** A row as {@link sagaViewColumns} select it. */
export type SagaRow = Omit<SagaView, 'flags'> & {
  flags: { kind: SagaFlagKind; activityId: string; since: string }[]
}

/** What is selected of a row `s` of sagas. */
export const sagaViewColumns = `s.tenant, s.id, s.service_name AS "serviceName", s.status, s.outcome, s.late,
  s.add_time AS "addTime", s.started_at AS "startedAt", s.ended_at AS "endedAt", s.expires_at AS "expiresAt",
  s.resolved_at AS "resolvedAt", s.resolved_by AS "resolvedBy",
  s.first_seen_at AS "firstSeenAt", ${lastEvent} AS "lastEventAt",
  ARRAY(SELECT t.tag FROM saga_tags t WHERE t.tenant = s.tenant AND t.saga_id = s.id ORDER BY t.tag) AS tags,
  COALESCE((SELECT json_agg(json_build_object('kind', f.kind, 'activityId', f.activity_id, 'since', f.since)
      ORDER BY f.kind, f.activity_id)
    FROM saga_flags f WHERE f.tenant = s.tenant AND f.saga_id = s.id), '[]') AS flags`

export const toSagaView = <Row extends SagaRow>({ flags, ...row }: Row) => ({
  ...row,
  flags: flags.map(({ kind, activityId, since }) => ({
    kind,
    activityId: activityId === '' ? null : activityId,
    since: new Date(since),
  })),
})
