import { endpoint, flag, ok, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { commitDetailShape, presentCommitDetail } from '../../presenters/commit.js'
import { showCommit } from '../../use-cases/read-commits.js'

export const getCommit = (deps: Dependencies) =>
  endpoint({
    summary: 'One commit',
    replies: { 200: commitDetailShape },
    input: z.object({ sha: text(), stats: flag().default(true) }),
    async handle({ sha, stats }, access: ProjectCall, call) {
      const commit = await showCommit(deps, access, sha, stats)
      return ok(presentCommitDetail(commit, access.project, call.baseUrl))
    },
  })
