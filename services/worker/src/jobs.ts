import { auditExport } from './audit/export.js'
import { auditRetention } from './audit/retention.js'
import { broadcastBoundary, broadcastPlanning } from './broadcasts/broadcast-boundaries.js'
import { deploymentImpact } from './deployments/impact.js'
import type { JobType } from './job-type.js'
import { repositoryHousekeeping } from './repositories/housekeeping.js'
import { sagaEventPartitions } from './sagas/event-partitions.js'
import { sagaFlagSweep } from './sagas/flags.js'
import { sagaLogRetention } from './sagas/log-retention.js'
import { sagaRetention } from './sagas/retention.js'
import { expiredTokenCleanup } from './tokens/expired-tokens.js'
import {
  webhookDelivery,
  webhookDispatch,
  webhookRetention,
  webhookSecretEncryption,
} from './webhooks/delivery-jobs.js'
import { webhookSagaEvents } from './webhooks/saga-events.js'

/** The functions that make each job from its dependencies. */
const jobs = [
  repositoryHousekeeping,
  expiredTokenCleanup,
  sagaEventPartitions,
  broadcastBoundary,
  broadcastPlanning,
  sagaFlagSweep,
  deploymentImpact,
  sagaRetention,
  sagaLogRetention,
  webhookSagaEvents,
  webhookDispatch,
  webhookDelivery,
  webhookRetention,
  webhookSecretEncryption,
  auditRetention,
  auditExport,
]

/** The dependencies of all jobs together. */
type JobDependencies = typeof jobs extends ((deps: infer Asked) => JobType)[] ? Asked : never

export const jobTypes = (deps: JobDependencies): JobType[] => jobs.map((job) => job(deps))
