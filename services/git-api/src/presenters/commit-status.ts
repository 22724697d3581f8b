import type { StatusWithAuthor } from '@switchyard/db'
import { presentUser } from './user.js'

export const presentCommitStatus = (status: StatusWithAuthor, baseUrl: string) => ({
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
  author: status.author && presentUser(status.author, baseUrl),
})
