import { timeText } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { FoundJob } from '../own-queues.js'

export const jobShape = z
  .object({
    queue: z.string(),
    id: z.string(),
    name: z.string(),
    state: z
      .string()
      .meta({ description: 'As BullMQ names it: `failed`, `waiting`, `active`, `delayed`, …' }),
    attempts_made: z.int(),
    attempts_max: z.int(),
    failed_reason: z
      .string()
      .nullable()
      .meta({ description: 'Error of the last attempt. URLs are cut after the host' }),
    data_fields: z.array(z.string()).meta({ description: 'Names of the fields of the payload' }),
    created_at: timeText(),
    started_at: timeText().nullable(),
    finished_at: timeText().nullable(),
  })
  .meta({ id: 'BackgroundJob', description: "A background job of Switchyard's own worker" })

const reasonLengthMax = 2_000
const fieldsMax = 100

/** A job without the values of its payload, which may be secret. */
export const presentJob = ({ queue, job, state }: FoundJob): z.output<typeof jobShape> => ({
  queue,
  id: job.id ?? '',
  name: job.name,
  state,
  attempts_made: job.attemptsMade,
  attempts_max: job.opts.attempts ?? 1,
  failed_reason: job.failedReason ? withoutSecrets(job.failedReason).slice(0, reasonLengthMax) : null,
  data_fields: fieldsOf(job.data),
  created_at: timeOf(job.timestamp) ?? '',
  started_at: timeOf(job.processedOn),
  finished_at: timeOf(job.finishedOn),
})

const timeOf = (ms: number | null | undefined) => (ms ? new Date(ms).toISOString() : null)

const fieldsOf = (data: unknown) =>
  typeof data === 'object' && data !== null ? Object.keys(data).slice(0, fieldsMax) : []

/** User, password, path and query of a URL may be secret: `redis://:pass@host/0` ⇒ `redis://host`. */
const withoutSecrets = (text: string) =>
  text.replace(/:\/\/[^\s"']+/g, (found) => {
    const afterUser = found.slice(Math.max(2, found.lastIndexOf('@')) + 1)
    const hostEnd = afterUser.search(/[/?#]/)
    return `://${hostEnd === -1 ? afterUser : afterUser.slice(0, hostEnd)}`
  })
