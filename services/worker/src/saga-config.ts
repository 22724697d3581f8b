import { type FlagRules, parseRetention, type RetentionPolicy } from '@switchyard/domain/saga'
import { integer } from '@switchyard/service-kit/config'
import { z } from 'zod'

const dayMs = 86_400_000
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

/** Variables about sagas. */
export const sagaFields = {
  /** Seconds between two sweeps that flag overdue, stuck, settled, parked and inconsistent sagas. Unset: 15. */
  SAGA_SWEEP_SECONDS: integer(1, 3600).default(15),
  /** Seconds after a deadline, or after the last event of an inconsistent activity, before the flag is set. Unset: 5. */
  SAGA_GRACE_SECONDS: integer(0, 86_400).default(5),
  /** Seconds without an event until an unfinished saga counts as stuck, or as settled. Unset: 900. */
  SAGA_STUCK_AFTER_SECONDS: seconds().default(900),
  /** Seconds after its first event until an activity without a saga, or a saga without a start, is parked. Unset: a day. */
  SAGA_PARKED_AFTER_SECONDS: seconds().default(86_400),
  /** How long sagas of each kind are kept: `[service/]kind=duration, …`. Unset: `ended=30d`. */
  SAGA_RETENTION: retention().default('ended=30d'),
  /** Seconds between two runs that delete sagas. Unset: 60. */
  SAGA_RETENTION_EVERY_SECONDS: integer(1, 86_400).default(60),
  /** Days that the event log is kept; a day with events of an existing saga is kept longer. Unset: 30. */
  SAGA_LOG_RETENTION_DAYS: integer(1, 36_500).default(30),
  /** Days that the ids of deleted sagas are remembered. Unset: 90. */
  SAGA_TOMBSTONE_DAYS: integer(1, 36_500).default(90),
  /** Services with a label of their own in figures; further ones share the label `other`. Unset: 100. */
  SAGA_METRIC_SERVICES_MAX: integer(1, 10_000).default(100),
}

type SagaConfig = z.output<z.ZodObject<typeof sagaFields>>

/** Settings of the jobs for sagas. */
export interface SagaSettings {
  sweepEveryMs: number
  /** How long one sweep may take; the next one goes on from its position. */
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
