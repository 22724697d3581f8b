import { auditExport } from './audit/audit-export.js'
import { auditRetention } from './audit/audit-retention.js'
import { broadcastBoundary, broadcastPlanning } from './broadcasts/broadcast-boundaries.js'
import { deploymentImpact } from './deployments/impact.js'
import type { JobDependencies, JobType } from './job-type.js'
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

export const jobTypes = (dependencies: JobDependencies): JobType[] => [
  repositoryHousekeeping(dependencies),
  expiredTokenCleanup(dependencies),
  sagaEventPartitions(dependencies),
  broadcastBoundary(dependencies),
  broadcastPlanning(dependencies),
  sagaFlagSweep(dependencies),
  deploymentImpact(dependencies),
  sagaRetention(dependencies),
  sagaLogRetention(dependencies),
  webhookSagaEvents(dependencies),
  webhookDispatch(dependencies),
  webhookDelivery(dependencies),
  webhookRetention(dependencies),
  webhookSecretEncryption(dependencies),
  auditRetention(dependencies),
  auditExport(dependencies),
]
