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

/** Each job, as a function of the parts that it asks for. */
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

/** The parts that all jobs together ask for. */
type JobDependencies = typeof jobs extends ((dependencies: infer Asked) => JobType)[] ? Asked : never

export const jobTypes = (dependencies: JobDependencies): JobType[] => jobs.map((job) => job(dependencies))
