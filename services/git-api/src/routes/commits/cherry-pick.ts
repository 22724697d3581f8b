import type { Caller } from '@switchyard/domain/access'
import { created, endpoint, filledText, flag, ok, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { commitDetailShape, presentCommitDetail } from '../../presenters/commit.js'
import { cherryPick as pick } from '../../use-cases/cherry-pick.js'
import { describeCommit } from '../../use-cases/get-commit.js'
import { optionalText } from '../optional.js'

const input = z.object({
  sha: text(),
  branch: filledText(),
  message: optionalText(text()),
  dry_run: flag().default(false),
})

export const cherryPick = (deps: Dependencies) =>
  endpoint({
    summary: 'Apply a commit to a branch',
    replies: { 200: z.object({ dry_run: z.literal('success') }), 201: commitDetailShape },
    refusals: [409],
    input,
    async handle({ sha, branch, message, dry_run }, access: ProjectCall<Caller>, call) {
      const commit = await pick(deps, access, { revision: sha, branch, message, dryRun: dry_run }, call)
      if (!commit) return ok({ dry_run: 'success' })
      const repository = deps.git.open(access.project, call)
      const detail = await describeCommit(deps, repository, access.project, commit, true)
      return created(presentCommitDetail(detail, access.project, call.baseUrl))
    },
  })
