import { z } from 'zod'
import { type JobPayload, jobKeyPrefix, queueNames } from './queues.js'

/**
 * Redis channel on which every replica that shows broadcast messages hears that they changed, or that an
 * instant has come at which one goes on or off. Losing a message costs a second or so: replicas also look by
 * themselves.
 */
export const broadcastChannel = `${jobKeyPrefix}:broadcast-messages`

/** What is said on the channel: with `at` (epoch ms) it is that time now, without it the messages changed. */
export const broadcastNotice = z.object({ at: z.int().nonnegative().optional() })

export type BroadcastNotice = z.infer<typeof broadcastNotice>

/** Turns further away are planned by the worker's `broadcast-planning` when they come nearer. */
export const broadcastHorizonMs = 86_400_000

/** The job comes this much early, and waits the rest by itself: longer than Redis takes to hand it out. */
const leadMs = 300

/**
 * The job that says at an instant that it has come, as the arguments of BullMQ's `queue.add`. Any number of
 * them for one instant is one job; one that nothing happens at any more does no harm.
 */
export function broadcastTurnJob(at: Date, now: Date) {
  const data: JobPayload<'broadcast-turn'> = { at: at.getTime() }
  return {
    name: queueNames.broadcastTurn,
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
