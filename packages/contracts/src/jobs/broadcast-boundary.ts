import { z } from 'zod'
import { type JobPayload, jobKeyPrefix, queueNames } from './queues.js'

/**
 * Redis channel of the replicas of admin-broadcast. A notice says that broadcast messages have changed, or
 * that a message appears or disappears now. A lost notice delays a replica by about a second, because
 * replicas also poll the table.
 */
export const broadcastChannel = `${jobKeyPrefix}:broadcast-messages`

/** A notice. With `at` (epoch ms): the instant of a boundary has come. Without it: messages have changed. */
export const broadcastNotice = z.object({ at: z.int().nonnegative().optional() })

export type BroadcastNotice = z.infer<typeof broadcastNotice>

/**
 * Longest time ahead for which jobs are planned. The worker's job `broadcast-planning` plans later instants
 * when they come nearer.
 */
export const broadcastHorizonMs = 86_400_000

/**
 * Time by which the job starts early, to wait for its instant. It is longer than BullMQ takes to start a job.
 */
const leadMs = 300

/**
 * Returns the job that sends the notice of an instant, as the arguments of BullMQ's `queue.add`. Adding it
 * several times for one instant creates one job. The job has no effect when no message appears or disappears
 * at its instant any more.
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
