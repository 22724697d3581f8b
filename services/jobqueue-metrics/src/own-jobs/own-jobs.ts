import { repositoryHousekeepingQueue } from '@switchyard/contracts/jobs'
import { type AuditAuthor, type Database, inTransaction, type Rows, recordAuditEvent } from '@switchyard/db'
import { conflict, notFound } from '@switchyard/domain'
import type { Job, Queue } from 'bullmq'
import type { FoundJob, OwnQueues } from './own-queues.js'
import { listProjectStorages } from './store.js'

export interface JobDependencies {
  database: Database
  queues: OwnQueues
}

/** The key of a job: the name of its queue, and its id. */
interface JobReference {
  queue: string
  id: string
}

/**
 * Lists failed jobs, the newest failure first.
 *
 * @param queue undefined: all queues; this reads `skip + take` jobs of each queue with failed ones
 * @throws DomainError unavailable while Redis does not answer
 */
export async function listFailedJobs(
  { database, queues }: JobDependencies,
  queue: string | undefined,
  { skip, take }: Rows,
): Promise<{ jobs: FoundJob[]; total: number }> {
  const asked = queue === undefined ? await namesOfAll({ database, queues }) : await existing(queues, queue)
  const counted = await Promise.all(
    asked.map(async (name) => ({ name, count: await queues.use(name, (opened) => opened.getFailedCount()) })),
  )
  const total = counted.reduce((sum, { count }) => sum + count, 0)
  const filled = counted.filter(({ count }) => count > 0)
  const [only] = filled
  if (only && filled.length === 1) return { jobs: await readFailed(queues, only.name, skip, take), total }
  const found: FoundJob[] = []
  for (const { name } of filled) found.push(...(await readFailed(queues, name, 0, skip + take)))
  const jobs = found.sort((one, other) => failedMs(other) - failedMs(one)).slice(skip, skip + take)
  return { jobs, total }
}

/** Returns the names of all queues, including the queues of storages with projects. */
async function namesOfAll({ database, queues }: JobDependencies): Promise<string[]> {
  const storages = await listProjectStorages(database)
  return [...new Set([...queues.names, ...storages.map(repositoryHousekeepingQueue)])]
}

const existing = async (queues: OwnQueues, queue: string) => ((await queues.has(queue)) ? [queue] : [])

const failedMs = ({ job }: FoundJob) => job.finishedOn ?? 0

async function readFailed(queues: OwnQueues, name: string, skip: number, take: number): Promise<FoundJob[]> {
  const jobs = await queues.use(name, (queue) => queue.getFailed(skip, skip + take - 1))
  return jobs.map((job) => ({ queue: name, job, state: 'failed' }))
}

/** @throws DomainError not-found; unavailable while Redis does not answer */
export async function getOwnJob({ queues }: JobDependencies, { queue, id }: JobReference): Promise<FoundJob> {
  const name = await getName(queues, queue)
  return queues.use(name, async (opened) => {
    const job = await getJob(opened, id)
    return { queue: name, job, state: await job.getState() }
  })
}

/**
 * Returns a failed job to its queue, with its original number of attempts.
 *
 * @throws DomainError not-found; conflict for a job that is not failed; unavailable while Redis does not
 *   answer
 */
export const retryOwnJob = (
  deps: JobDependencies,
  reference: JobReference,
  author: AuditAuthor,
): Promise<FoundJob> =>
  changeFailed(deps, reference, author, 'job_retried', async (job) => {
    await job.retry('failed', { resetAttemptsMade: true })
  })

/**
 * @throws DomainError not-found; conflict for a job that is not failed; unavailable while Redis does not
 *   answer
 */
export const removeOwnJob = (
  deps: JobDependencies,
  reference: JobReference,
  author: AuditAuthor,
): Promise<FoundJob> => changeFailed(deps, reference, author, 'job_removed', (job) => job.remove())

/** Changes a failed job. When the change fails, its audit entry is rolled back. */
async function changeFailed(
  { database, queues }: JobDependencies,
  { queue, id }: JobReference,
  author: AuditAuthor,
  eventName: 'job_retried' | 'job_removed',
  change: (job: Job) => Promise<void>,
): Promise<FoundJob> {
  const name = await getName(queues, queue)
  return queues.use(name, (opened) =>
    inTransaction(database, async (transaction) => {
      const job = await getJob(opened, id)
      if (!(await job.isFailed())) throw notFailed()
      const entityId = `${name}/${id}`
      const details = { queue: name, job_id: id, job_name: job.name }
      await recordAuditEvent(transaction, author, { eventName, entityType: 'Job', entityId, details })
      await change(job).catch(async (error) => {
        // Another request has changed the job meanwhile.
        throw (await job.isFailed()) ? error : notFailed()
      })
      return { queue: name, job, state: await job.getState() }
    }),
  )
}

const notFailed = () => conflict('The job is not failed')

async function getName(queues: OwnQueues, queue: string): Promise<string> {
  if (await queues.has(queue)) return queue
  throw notFound('Queue')
}

async function getJob(queue: Queue, id: string): Promise<Job> {
  const job = await queue.getJob(id)
  if (!job) throw notFound('Job')
  return job
}
