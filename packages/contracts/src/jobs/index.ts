export {
  type BroadcastNotice,
  broadcastChannel,
  broadcastHorizonMs,
  broadcastNotice,
  broadcastTurnJob,
} from './broadcast-turn.js'
export { type ProjectNotice, projectEventsChannel, projectNotice } from './project-events.js'
export { type JobPayload, jobKeyPrefix, jobPayloads, type QueueName, queueNames } from './queues.js'
export {
  furtherHousekeepingQueue,
  repositoryHousekeepingJob,
  repositoryHousekeepingQueue,
} from './repository-housekeeping.js'
export { sagaEventsChannel } from './saga-events.js'
export { webhookDeliveryJob } from './webhook-delivery.js'
