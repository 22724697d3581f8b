import { broadcastPlanning } from './broadcast-planning.js'
import { broadcastTurn } from './broadcast-turn.js'
import { expiredTokenCleanup } from './expired-token-cleanup.js'
import type { JobDependencies, JobType } from './job-type.js'
import { repositoryHousekeeping } from './repository-housekeeping.js'
import { sagaEventPartitions } from './saga-event-partitions.js'
import { sagaFlagSweep } from './saga-flag-sweep.js'
import { sagaLogRetention } from './saga-log-retention.js'
import { sagaRetention } from './saga-retention.js'
import { webhookDelivery } from './webhook-delivery.js'
import { webhookDispatch } from './webhook-dispatch.js'
import { webhookRetention } from './webhook-retention.js'
import { webhookSagaEvents } from './webhook-saga-events.js'
import { webhookSecretEncryption } from './webhook-secret-encryption.js'

/** Every kind of job that a worker runs. */
export const jobTypes = (dependencies: JobDependencies): JobType[] => [
  repositoryHousekeeping(dependencies),
  expiredTokenCleanup(dependencies),
  sagaEventPartitions(dependencies),
  broadcastTurn(dependencies),
  broadcastPlanning(dependencies),
  sagaFlagSweep(dependencies),
  sagaRetention(dependencies),
  sagaLogRetention(dependencies),
  webhookSagaEvents(dependencies),
  webhookDispatch(dependencies),
  webhookDelivery(dependencies),
  webhookRetention(dependencies),
  webhookSecretEncryption(dependencies),
]
