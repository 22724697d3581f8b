import type { Caller } from '@switchyard/domain/access'
import { created, endpoint, filledText, flag, ok, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { commitDetailShape, presentCommitDetail } from '../../presenters/commit.js'
import { cherryPick as pick } from '../../use-cases/cherry-pick.js'
import { optionalText } from '../../wire/parameters.js'

export const cherryPick = (deps: Dependencies) =>
  endpoint({
    summary: 'Apply a commit to a branch',
    replies: { 200: z.object({ dry_run: z.literal('success') }), 201: commitDetailShape },
    refusals: [409],
    input: z.object({
      sha: text(),
      branch: filledText(),
      message: optionalText(text()),
      dry_run: flag().default(false),
    }),
    async handle({ sha: revision, branch, message, dry_run: dryRun }, access: ProjectCall<Caller>, call) {
      const commit = await pick(deps, access, { revision, branch, message, dryRun }, call)
      if (!commit) return ok({ dry_run: 'success' })
      return created(presentCommitDetail(commit, access.project, call.baseUrl))
    },
  })
