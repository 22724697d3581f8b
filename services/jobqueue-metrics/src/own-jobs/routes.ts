import { furtherHousekeepingQueue, queueNames } from '@switchyard/contracts/jobs'
import type { Caller } from '@switchyard/domain/access'
import {
  administratorOrScope,
  auditAuthor,
  endpoint,
  noContent,
  ok,
  pageParameters,
  pageReply,
  parameterProblem,
  type Route,
  refusingUnknown,
  route,
  rowsOf,
  text,
  textCharsMax,
  timeText,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import * as ownJobs from './own-jobs.js'
import type { FoundJob } from './own-queues.js'

const mayManage = administratorOrScope('manage_jobs')

export const jobRoutes = (deps: ownJobs.JobDependencies): Route[] =>
  refusingUnknown([
    route('GET', '/jobqueue/jobs', mayManage, listJobs(deps)),
    route('GET', '/jobqueue/jobs/:queue/:id', mayManage, getJob(deps)),
    route('POST', '/jobqueue/jobs/:queue/:id/retry', mayManage, retryJob(deps)),
    route('DELETE', '/jobqueue/jobs/:queue/:id', mayManage, removeJob(deps)),
  ])

const jobShape = z
  .object({
    queue: z.string(),
    id: z.string(),
    name: z.string(),
    state: z.string().meta({ description: 'State in BullMQ: `failed`, `waiting`, `active`, `delayed`, …' }),
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

/** Returns a job without the values of its payload, which may be secret. */
const presentJob = ({ queue, job, state }: FoundJob): z.output<typeof jobShape> => ({
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

/**
 * Removes user, password, path and query of URLs, which may be secret: `redis://:pass@host/0` ⇒
 * `redis://host`.
 */
const withoutSecrets = (text: string) =>
  text.replace(/:\/\/[^\s"']+/g, (found) => {
    const afterUser = found.slice(Math.max(2, found.lastIndexOf('@')) + 1)
    const hostEnd = afterUser.search(/[/?#]/)
    return `://${hostEnd === -1 ? afterUser : afterUser.slice(0, hostEnd)}`
  })

/** Deepest position of a page across several queues, because deeper pages would read too many jobs. */
const mergedMax = 1_000

/** Each storage except `default` has a separate queue. */
const queueName = z.union([z.enum(queueNames), z.string().max(textCharsMax).regex(furtherHousekeepingQueue)])

const reference = z.object({ queue: text(), id: text() })

const listJobs = (deps: ownJobs.JobDependencies) =>
  endpoint({
    summary: "List the failed jobs of Switchyard's own queues, newest failure first",
    replies: { 200: z.array(jobShape) },
    refusals: [503],
    input: z.object({
      ...pageParameters,
      queue: queueName.optional().meta({ description: 'Unset: every queue, the first 1,000 jobs' }),
      state: z.enum(['failed']).default('failed'),
    }),
    async handle({ queue, state: _, ...page }, _caller: Caller, call) {
      const rows = rowsOf(page)
      if (queue === undefined && rows.skip + rows.take > mergedMax) {
        throw parameterProblem('page', `is beyond the first ${mergedMax} jobs of all queues; name a queue`)
      }
      const { jobs, total } = await ownJobs.listFailedJobs(deps, queue, rows)
      return pageReply(jobs.map(presentJob), page, total, call)
    },
  })

const getJob = (deps: ownJobs.JobDependencies) =>
  endpoint({
    summary: "Get a job of Switchyard's own queues, in any state",
    replies: { 200: jobShape },
    refusals: [503],
    input: reference,
    handle: async (job) => ok(presentJob(await ownJobs.getOwnJob(deps, job))),
  })

const retryJob = (deps: ownJobs.JobDependencies) =>
  endpoint({
    summary: 'Retry a failed job with all its attempts',
    replies: { 200: jobShape },
    refusals: [409, 503],
    input: reference,
    async handle(job, caller: Caller, call) {
      return ok(presentJob(await ownJobs.retryOwnJob(deps, job, auditAuthor(caller, call))))
    },
  })

const removeJob = (deps: ownJobs.JobDependencies) =>
  endpoint({
    summary: 'Remove a failed job permanently',
    replies: { 204: null },
    refusals: [409, 503],
    input: reference,
    async handle(job, caller: Caller, call) {
      await ownJobs.removeOwnJob(deps, job, auditAuthor(caller, call))
      return noContent()
    },
  })
