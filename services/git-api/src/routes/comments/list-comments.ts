import { listCommitComments } from '@switchyard/db'
import { endpoint, pageParameters, pageReply, rowsOf, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { commentShape, presentComment } from '../../presenters/comment.js'
import { getCommitId } from '../../use-cases/get-commit.js'

export const listComments = ({ database, git }: Pick<Dependencies, 'database' | 'git'>) =>
  endpoint({
    summary: 'Comments on a commit',
    replies: { 200: z.array(commentShape) },
    input: z.object({ ...pageParameters, sha: text() }),
    async handle({ sha, ...page }, { project }: ProjectCall, call) {
      const commitId = await getCommitId(git.open(project, call), sha)
      const where = { projectId: project.id, sha: commitId }
      const { comments, total } = await listCommitComments(database, where, rowsOf(page))
      const items = comments.map((comment) => presentComment(comment, call.baseUrl))
      return pageReply(items, page, total, call)
    },
  })
