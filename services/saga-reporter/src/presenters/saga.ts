import type { ActivityView, SagaNote, SagaView } from '@switchyard/db'
import type { SagaUrl } from '../routes/saga-url.js'
import { presentActivity } from './activity.js'
import { presentNote } from './note.js'

/** A saga in a list. */
export const presentSaga = (saga: SagaView) => ({
  saga_id: saga.id,
  tenant: saga.tenant,
  service_name: saga.serviceName,
  status: saga.status,
  outcome: saga.outcome,
  late: saga.late,
  flags: saga.flags.map(({ kind, activityId, since }) => ({ kind, activity_id: activityId, since })),
  tags: saga.tags,
  add_time: saga.addTime,
  started_at: saga.startedAt,
  ended_at: saga.endedAt,
  expires_at: saga.expiresAt,
  resolution: saga.resolvedAt && { at: saga.resolvedAt, by: saga.resolvedBy },
  first_seen_at: saga.firstSeenAt,
  last_event_at: saga.lastEventAt,
  duration_ms: saga.endedAt && saga.endedAt.getTime() - (saga.startedAt ?? saga.firstSeenAt).getTime(),
})

export interface SagaDetail {
  saga: SagaView
  activities: ActivityView[]
  notes: SagaNote[]
  /** What the operator wrote who resolved it. */
  resolutionNote: string | null
}

/** One saga with all that belongs to it, but its log. */
export function presentSagaDetail(detail: SagaDetail, url: SagaUrl) {
  const { saga, activities, notes, resolutionNote } = detail
  const presented = presentSaga(saga)
  return {
    ...presented,
    resolution: presented.resolution && { ...presented.resolution, note: resolutionNote },
    notes: notes.map(presentNote),
    events_url: url('events'),
    activities: activities.map((activity) => presentActivity(activity, url)),
  }
}
