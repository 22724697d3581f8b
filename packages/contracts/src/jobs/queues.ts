import { z } from 'zod'

/**
 * First part of every BullMQ key. The braces make all of them hash to one slot, which BullMQ's scripts
 * need on a Redis Cluster.
 */
export const jobKeyPrefix = '{switchyard}'

/**
 * The queues, one for each type of job; queue and job have the same name. The names are stored in Redis,
 * where processes of other versions read them, so they never change. The job of a boundary is stored as
 * `broadcast-turn`.
 */
export const queueNames = {
  repositoryHousekeeping: 'repository-housekeeping',
  expiredTokenCleanup: 'expired-token-cleanup',
  sagaEventPartitions: 'saga-event-partitions',
  broadcastBoundary: 'broadcast-turn',
  broadcastPlanning: 'broadcast-planning',
  sagaFlagSweep: 'saga-flag-sweep',
  deploymentImpact: 'deployment-impact',
  sagaRetention: 'saga-retention',
  sagaLogRetention: 'saga-log-retention',
  webhookSagaEvents: 'webhook-saga-events',
  webhookDispatch: 'webhook-dispatch',
  webhookDelivery: 'webhook-delivery',
  webhookRetention: 'webhook-retention',
  webhookSecretEncryption: 'webhook-secret-encryption',
  auditRetention: 'audit-retention',
  auditExport: 'audit-export',
} as const

export type QueueName = (typeof queueNames)[keyof typeof queueNames]

/** Payload of the jobs of each queue. The worker checks it before it runs a job. */
export const jobPayloads = {
  'repository-housekeeping': z.object({ projectId: z.int().positive() }),
  'expired-token-cleanup': z.object({}),
  'saga-event-partitions': z.object({}),
  'broadcast-turn': z.object({ at: z.int().nonnegative() }),
  'broadcast-planning': z.object({}),
  'saga-flag-sweep': z.object({}),
  'deployment-impact': z.object({}),
  'saga-retention': z.object({}),
  'saga-log-retention': z.object({}),
  'webhook-saga-events': z.object({}),
  'webhook-dispatch': z.object({}),
  'webhook-delivery': z.object({ host: z.string().min(1) }),
  'webhook-retention': z.object({}),
  'webhook-secret-encryption': z.object({}),
  'audit-retention': z.object({}),
  'audit-export': z.object({}),
} satisfies Record<QueueName, z.ZodObject>

export type JobPayload<Name extends QueueName> = z.infer<(typeof jobPayloads)[Name]>
