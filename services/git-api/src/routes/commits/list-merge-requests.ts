import { endpoint, pageParameters, pageReply, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { getCommitId } from '../../use-cases/read-commits.js'

/** `GET /projects/:id/repository/commits/:sha/merge_requests`, for clients that ask GitLab. */
export const listMergeRequests = endpoint({
  summary: 'Always empty: there are no merge requests',
  replies: { 200: z.array(z.never()) },
  input: z.object({ ...pageParameters, sha: text() }),
  async handle({ sha, ...page }, { repository }: ProjectCall, call) {
    await getCommitId(repository, sha)
    return pageReply([], page, 0, call)
  },
})
