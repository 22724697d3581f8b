import { type Caller, isZeroId } from '@switchyard/domain/access'
import { isFullHash } from '@switchyard/domain/commit'
import {
  endpoint,
  filledText,
  ok,
  pathCharsMax,
  proseCharsMax,
  type Route,
  route,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { commitDetailShape, presentCommitDetail } from '../../shapes/commit.js'
import { optionalText } from '../../shapes/parameters.js'
import type { FileDependencies } from '../files/files.js'
import * as files from '../files/files.js'

export const submoduleRoutes = (deps: FileDependencies): Route[] => [
  route('PUT', '/projects/:id/repository/submodules/:submodule', deps.guards.pushCode, moveSubmodule(deps)),
]

const moveSubmoduleInput = z.object({
  submodule: text(pathCharsMax).meta({ description: 'The path of the submodule' }),
  branch: filledText(),
  commit_sha: text()
    .transform((hash) => hash.toLowerCase())
    .refine((hash) => isFullHash(hash) && !isZeroId(hash), { error: 'is invalid' })
    .meta({ description: 'A full hash. It is not checked against the repository of the submodule' }),
  commit_message: optionalText(text(proseCharsMax)),
})

const moveSubmodule = (deps: FileDependencies) =>
  endpoint({
    summary: 'Update a submodule to another commit',
    replies: { 200: commitDetailShape },
    refusals: [409],
    input: moveSubmoduleInput,
    async handle({ submodule, branch, commit_sha, commit_message }, access: ProjectCall<Caller>, call) {
      const message = commit_message ?? `Update submodule ${submodule} with oid ${commit_sha}`
      const action = { action: 'submodule', file_path: submodule, encoding: 'text' } as const
      const change = { branch, message, action: { ...action, commit_id: commit_sha } }
      const made = await files.commitFile(deps, access, change, call)
      return ok(presentCommitDetail(made, access.project, call.baseUrl))
    },
  })
