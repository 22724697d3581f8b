import { z } from 'zod'

/**
 * Redis channel on which everybody who listens hears at once what happened in projects. Nothing is kept: who must not
 * miss anything uses a webhook.
 */
export const projectEventsChannel = 'switchyard:project-events'

const project = { project_id: z.int().positive() }

/** What is said on the channel: enough to know what to read again. */
export const projectNotice = z.discriminatedUnion('event', [
  z.object({
    ...project,
    event: z.enum(['push', 'tag_push']),
    /** In full: `refs/heads/main`. */
    ref: z.string(),
    /** Forty zeros: it is new. */
    before: z.string(),
    /** Forty zeros: it is gone. */
    after: z.string(),
  }),
  z.object({ ...project, event: z.literal('note'), sha: z.string(), id: z.int() }),
  z.object({
    ...project,
    event: z.literal('job'),
    sha: z.string(),
    id: z.int(),
    ref: z.string().nullable(),
    name: z.string(),
    status: z.string(),
  }),
])

export type ProjectNotice = z.infer<typeof projectNotice>
