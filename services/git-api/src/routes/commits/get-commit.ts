import { endpoint, flag, ok, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { commitDetailShape, presentCommitDetail } from '../../presenters/commit.js'
import { describeCommit, getCommit } from '../../use-cases/get-commit.js'

export const getCommitEndpoint = (deps: Dependencies) =>
  endpoint({
    summary: 'One commit',
    replies: { 200: commitDetailShape },
    input: z.object({ sha: text(), stats: flag().default(true) }),
    async handle({ sha, stats }, { project }: ProjectCall, call) {
      const repository = deps.git.open(project, call)
      const commit = await getCommit(repository, sha)
      const detail = await describeCommit(deps, repository, project, commit, stats)
      return ok(presentCommitDetail(detail, project, call.baseUrl))
    },
  })
