export type { BullmqWorker } from './connect.js'
export type { BullmqJob, Processor } from './count-jobs.js'
export { createHeartbeat, type Heartbeat, type HeartbeatOptions } from './heartbeat.js'
export type { Outcome } from './job-counts.js'
