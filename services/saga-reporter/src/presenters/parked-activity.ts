import type { ParkedActivity } from '@switchyard/db'
import { activityStatuses } from '@switchyard/domain/saga'
import { oneOf } from '@switchyard/service-kit/http'
import { z } from 'zod'

export const parkedActivityShape = z
  .object({
    activity_id: z.string(),
    status: oneOf(activityStatuses),
    first_seen_at: z.date(),
    last_event_at: z.date(),
    execute_errors: z.string().nullable(),
    compensate_errors: z.string().nullable(),
  })
  .meta({ id: 'ParkedActivity', description: 'An activity whose saga no event has named' })

export const presentParkedActivity = (activity: ParkedActivity): z.output<typeof parkedActivityShape> => ({
  activity_id: activity.id,
  status: activity.status,
  first_seen_at: activity.firstSeenAt,
  last_event_at: activity.lastEventAt,
  execute_errors: activity.executeErrors,
  compensate_errors: activity.compensateErrors,
})
