export {
  type BroadcastNotice,
  broadcastBoundaryJob,
  broadcastChannel,
  broadcastHorizonMs,
  broadcastNotice,
} from './broadcast-boundary.js'
export { type ProjectNotice, projectEventsChannel, projectNotice } from './project-events.js'
export {
  type HistorySample,
  packSample,
  queueHistoryKeys,
  readSeriesKey,
  type SeriesMetrics,
  seriesKey,
  unpackSample,
} from './queue-history.js'
export { type JobPayload, jobKeyPrefix, jobPayloads, type QueueName, queueNames } from './queues.js'
export {
  furtherHousekeepingQueue,
  repositoryHousekeepingJob,
  repositoryHousekeepingQueue,
} from './repository-housekeeping.js'
export { webhookDeliveryJob } from './webhook-delivery.js'

/** Redis channel on which the replicas of saga-reporter notify each other of new entries in the log. */
export const sagaEventsChannel = 'switchyard:saga-events'
