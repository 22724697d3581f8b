import { z } from 'zod'
import { jobIdentityShape, presentJobIdentity } from '../../shapes/job-identity.js'
import { presentUser, userShape } from '../../shapes/user.js'
import type { StatusWithAuthor } from './store.js'

const linkShape = z.object({ name: z.string(), url: z.string() })

export const commitStatusShape = z
  .object({
    id: z.int(),
    sha: z.string(),
    ref: z.string().nullable(),
    status: z.string(),
    name: z.string(),
    target_url: z.string().nullable(),
    description: z.string().nullable(),
    created_at: z.date(),
    started_at: z.date().nullable(),
    finished_at: z.date().nullable(),
    allow_failure: z.boolean(),
    coverage: z.number().nullable(),
    pipeline_id: z.int(),
    author: userShape.nullable(),
    stage: z.string(),
    report: z.array(linkShape),
    artifacts: z.array(linkShape),
    job_identity: jobIdentityShape.nullable(),
  })
  .meta({ id: 'CommitStatus', description: 'The status that a build or a check gives a commit' })

export const presentCommitStatus = (
  status: StatusWithAuthor,
  baseUrl: string,
): z.output<typeof commitStatusShape> => ({
  id: Number(status.id),
  sha: status.sha,
  ref: status.ref,
  status: status.status,
  name: status.name,
  target_url: status.targetUrl,
  description: status.description,
  created_at: status.createdAt,
  started_at: status.startedAt,
  finished_at: status.finishedAt,
  allow_failure: status.allowFailure,
  coverage: status.coverage,
  pipeline_id: Number(status.pipelineId),
  author: status.author && presentUser(status.author, baseUrl),
  stage: status.stage,
  report: status.report,
  artifacts: status.artifacts,
  job_identity: presentJobIdentity(status.job),
})
