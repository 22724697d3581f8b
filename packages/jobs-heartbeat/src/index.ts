export type { BullmqWorker } from './bullmq-worker.js'
export { type Heartbeat, type HeartbeatOptions, startHeartbeat } from './heartbeat.js'
export type { Outcome } from './job-counts.js'
