import { integer } from '@switchyard/config'
import { dayMs } from '@switchyard/domain'
import { type FlagRules, parseRetention, type RetentionPolicy } from '@switchyard/domain/saga'
import { z } from 'zod'

const seconds = () => integer(1, 31_536_000)

const retention = () =>
  z.string().superRefine((text, context) => {
    try {
      parseRetention(text)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      context.addIssue({ code: 'custom', message: error.message })
    }
  })

export const sagaFields = {
  SAGA_SWEEP_SECONDS: integer(1, 3600)
    .default(15)
    .describe(
      'Interval of the sweep that sets and clears the flags overdue, stuck, settled, parked and inconsistent, and of the metrics of sagas',
    ),
  SAGA_GRACE_SECONDS: integer(0, 86_400)
    .default(5)
    .describe(
      'Time after a deadline until an activity is flagged overdue, and after the last event until contradicting facts are flagged inconsistent',
    ),
  SAGA_STUCK_AFTER_SECONDS: seconds()
    .default(900)
    .describe(
      'Time without an event until an unfinished saga is flagged stuck, or settled when every activity has finished',
    ),
  SAGA_PARKED_AFTER_SECONDS: seconds()
    .default(86_400)
    .describe(
      'Time from the first event until an activity without a saga, or a saga without a start, is flagged parked',
    ),
  SAGA_RETENTION: retention()
    .default('ended=30d')
    .describe('How long sagas are kept: see [operations](operations.md#how-long-sagas-are-kept)'),
  SAGA_RETENTION_EVERY_SECONDS: integer(1, 86_400)
    .default(60)
    .describe('Interval of the sweep that deletes sagas whose retention has ended'),
  SAGA_LOG_RETENTION_DAYS: integer(1, 36_500)
    .default(30)
    .describe('Days for which the event log is kept; a day with events of a saga that is kept stays longer'),
  SAGA_TOMBSTONE_DAYS: integer(1, 36_500)
    .default(90)
    .describe(
      'How long the ids of deleted sagas are remembered, so that late reports about them have no effect',
    ),
  SAGA_METRIC_SERVICES_MAX: integer(1, 10_000)
    .default(100)
    .describe('Services that have their own label in the metrics of sagas; the rest share `other`'),
}

type SagaConfig = z.output<z.ZodObject<typeof sagaFields>>

export interface SagaSettings {
  sweepEveryMs: number
  /** Time limit of a run of a sweep. The next run continues from its position. */
  sweepBudgetMs: number
  flagRules: FlagRules
  retention: RetentionPolicy
  retentionEveryMs: number
  retentionBudgetMs: number
  logKeptMs: number
  tombstonesKeptMs: number
}

export function sagaSettingsOf(config: SagaConfig): SagaSettings {
  const sweepEveryMs = config.SAGA_SWEEP_SECONDS * 1000
  const retentionEveryMs = config.SAGA_RETENTION_EVERY_SECONDS * 1000
  return {
    sweepEveryMs,
    sweepBudgetMs: sweepEveryMs * 0.7,
    flagRules: {
      graceMs: config.SAGA_GRACE_SECONDS * 1000,
      stuckAfterMs: config.SAGA_STUCK_AFTER_SECONDS * 1000,
      parkedAfterMs: config.SAGA_PARKED_AFTER_SECONDS * 1000,
    },
    retention: parseRetention(config.SAGA_RETENTION),
    retentionEveryMs,
    retentionBudgetMs: Math.min(retentionEveryMs * 0.7, 30_000),
    logKeptMs: config.SAGA_LOG_RETENTION_DAYS * dayMs,
    tombstonesKeptMs: config.SAGA_TOMBSTONE_DAYS * dayMs,
  }
}
