import type { FreezePeriod } from '@switchyard/db'
import { z } from 'zod'

export const freezePeriodShape = z
  .object({
    id: z.int(),
    freeze_start: z.string().meta({ description: 'Cron expression' }),
    freeze_end: z.string().meta({ description: 'Cron expression' }),
    cron_timezone: z.string(),
    created_at: z.date(),
    updated_at: z.date(),
  })
  .meta({ id: 'FreezePeriod', description: 'Periods in which a project should not be deployed' })

/** Returns a freeze period in GitLab's shape. */
export const presentFreezePeriod = (period: FreezePeriod): z.output<typeof freezePeriodShape> => ({
  id: period.id,
  freeze_start: period.freezeStart,
  freeze_end: period.freezeEnd,
  cron_timezone: period.cronTimezone,
  created_at: period.createdAt,
  updated_at: period.updatedAt,
})
