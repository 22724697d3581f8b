import type { ParkedActivity } from '@switchyard/db'

export const presentParkedActivity = (activity: ParkedActivity) => ({
  activity_id: activity.id,
  status: activity.status,
  first_seen_at: activity.firstSeenAt,
  last_event_at: activity.lastEventAt,
  execute_errors: activity.executeErrors,
  compensate_errors: activity.compensateErrors,
})
