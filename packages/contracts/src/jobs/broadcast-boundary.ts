import { z } from 'zod'
import { type JobPayload, jobKeyPrefix, queueNames } from './queues.js'

/**
 * Redis channel that every replica of admin-broadcast subscribes to: broadcast messages have changed, or the
 * instant has come at which one appears or disappears. A lost notice delays a replica by about a second,
 * because replicas also poll the table.
 */
export const broadcastChannel = `${jobKeyPrefix}:broadcast-messages`

/** A notice. With `at` (epoch ms): this instant has come; without it: messages have changed. */
export const broadcastNotice = z.object({ at: z.int().nonnegative().optional() })

export type BroadcastNotice = z.infer<typeof broadcastNotice>

/** Instants further away are planned by the worker's job `broadcast-planning` when they come nearer. */
export const broadcastHorizonMs = 86_400_000

/** The job starts this much early and waits for its instant: longer than BullMQ takes to hand it out. */
const leadMs = 300

/**
 * The job that sends the notice of an instant, as the arguments of BullMQ's `queue.add`. Adding it several
 * times for one instant makes one job. For an instant at which no message appears or disappears any more, the
 * job has no effect.
 */
export function broadcastBoundaryJob(at: Date, now: Date) {
  const data: JobPayload<'broadcast-turn'> = { at: at.getTime() }
  return {
    name: queueNames.broadcastBoundary,
    data,
    options: {
      jobId: `at-${at.getTime()}`,
      timestamp: now.getTime(),
      delay: Math.max(0, at.getTime() - now.getTime() - leadMs),
      attempts: 3,
      backoff: { type: 'fixed', delay: 100 },
    },
  }
}
