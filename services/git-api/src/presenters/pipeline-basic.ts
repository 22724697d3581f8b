import type { PipelineWithAuthor, Project } from '@switchyard/db'
import { link } from '@switchyard/service-kit/http'
import { z } from 'zod'

export const pipelineBasicShape = z
  .object({
    id: z.int(),
    iid: z.int(),
    project_id: z.int(),
    sha: z.string(),
    ref: z.string().nullable(),
    status: z.string(),
    source: z.string(),
    created_at: z.date(),
    updated_at: z.date(),
    web_url: link(),
  })
  .meta({ id: 'PipelineBasic', description: 'All statuses of a commit and ref together' })

/** A pipeline as part of another answer. There is no number by project: `iid` is the id. */
export const presentPipelineBasic = (
  { id, projectId, sha, ref, status, createdAt, updatedAt }: PipelineWithAuthor,
  project: Project,
  baseUrl: string,
): z.output<typeof pipelineBasicShape> => ({
  id: Number(id),
  iid: Number(id),
  project_id: projectId,
  sha,
  ref,
  status,
  source: 'external',
  created_at: createdAt,
  updated_at: updatedAt,
  web_url: `${baseUrl}/${project.pathWithNamespace}/-/pipelines/${id}`,
})
