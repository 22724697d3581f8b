import { z } from 'zod'

/**
 * Redis channel of events in projects. Subscribers receive them at once, and nothing is stored. A program
 * that must not miss an event uses a webhook.
 */
export const projectEventsChannel = 'switchyard:project-events'

const project = { project_id: z.int().positive() }

/** An event, with enough fields to know what to read again. */
export const projectNotice = z.discriminatedUnion('event', [
  z.object({
    ...project,
    event: z.enum(['push', 'tag_push']),
    /** Full name: `refs/heads/main`. */
    ref: z.string(),
    /** Commit before; forty zeros for a new reference. */
    before: z.string(),
    /** Commit after, or the object of an annotated tag; forty zeros for a deleted reference. */
    after: z.string(),
    /**
     * The commit that the reference leads to. Null for a deleted reference, and for a tag of another object.
     */
    checkout_sha: z.string().nullable().default(null),
    /** Text of an annotated tag, at most its first 10,000 characters; otherwise null. */
    message: z.string().nullable().default(null),
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
  z.object({
    ...project,
    event: z.literal('deployment'),
    id: z.int(),
    sha: z.string(),
    /** Name of the environment. */
    environment: z.string(),
    status: z.string(),
  }),
  z.object({
    ...project,
    event: z.literal('releases'),
    id: z.int(),
    tag: z.string(),
    action: z.enum(['create', 'update', 'delete']),
  }),
])

export type ProjectNotice = z.infer<typeof projectNotice>
