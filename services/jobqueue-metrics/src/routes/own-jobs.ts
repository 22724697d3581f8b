import { furtherHousekeepingQueue, queueNames } from '@switchyard/contracts/jobs'
import type { Caller } from '@switchyard/domain/access'
import {
  auditAuthor,
  endpoint,
  noContent,
  ok,
  pageParameters,
  pageReply,
  parameterProblem,
  rowsOf,
  text,
  textCharsMax,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import { jobShape, presentJob } from '../presenters/own-job.js'
import * as ownJobs from '../use-cases/own-jobs.js'

/** Deeper pages of several queues together would read too many jobs. */
const mergedMax = 1_000

/** Each storage except `default` has a separate queue. */
const queueName = z.union([z.enum(queueNames), z.string().max(textCharsMax).regex(furtherHousekeepingQueue)])

const reference = z.object({ queue: text(), id: text() })

export const listJobs = (deps: ownJobs.JobDependencies) =>
  endpoint({
    summary: "Failed jobs of Switchyard's own queues, the newest failure first",
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

export const getJob = (deps: ownJobs.JobDependencies) =>
  endpoint({
    summary: "One job of Switchyard's own queues, in any state",
    replies: { 200: jobShape },
    refusals: [503],
    input: reference,
    handle: async (job) => ok(presentJob(await ownJobs.getOwnJob(deps, job))),
  })

export const retryJob = (deps: ownJobs.JobDependencies) =>
  endpoint({
    summary: 'Put a failed job back into its queue, with all its attempts',
    replies: { 200: jobShape },
    refusals: [409, 503],
    input: reference,
    async handle(job, caller: Caller, call) {
      return ok(presentJob(await ownJobs.retryOwnJob(deps, job, auditAuthor(caller, call))))
    },
  })

export const removeJob = (deps: ownJobs.JobDependencies) =>
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
