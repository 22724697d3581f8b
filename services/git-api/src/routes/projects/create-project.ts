import { findUser } from '@switchyard/db'
import { forbidden, invalid, invalidParameters } from '@switchyard/domain'
import { accessLevels, type Caller } from '@switchyard/domain/access'
import { type Call, created, endpoint, filledText, flag, rowId, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { projectShape } from '../../presenters/project.js'
import { createProject as addProject } from '../../use-cases/create-project.js'
import { describeProject } from '../../use-cases/describe-project.js'
import { optional } from '../optional.js'
import { visibilities } from './visibilities.js'

const input = z.object({
  name: optional(filledText()),
  path: optional(filledText()),
  description: optional(text()),
  visibility: z.enum(visibilities).default('private'),
  default_branch: filledText().default('main'),
  initialize_with_readme: flag().default(false),
  namespace_id: optional(rowId()),
})

const neither = 'name, path are missing, at least one parameter must be provided'

/** `POST /projects`: below the caller's name, or for administrators below anybody's. */
export const createProject = (deps: Dependencies) =>
  endpoint({
    summary: 'Create a project',
    replies: { 201: projectShape },
    refusals: [409],
    input,
    async handle(given, caller: Caller, call: Call) {
      if (given.name === undefined && given.path === undefined) throw invalidParameters([neither])
      if (caller.token.projectId != null) throw forbidden()
      const owner = await findOwner(deps, caller, given.namespace_id ?? caller.user.id)
      const project = await addProject(deps, {
        owner,
        name: given.name,
        path: given.path,
        description: given.description ?? null,
        visibility: given.visibility,
        defaultBranch: given.default_branch,
        withReadme: given.initialize_with_readme,
      })
      const memberLevel = owner.id === caller.user.id ? accessLevels.owner : null
      return created(await describeProject(deps, { project, memberLevel }, caller, call))
    },
  })

async function findOwner({ database }: Dependencies, caller: Caller, id: number) {
  const owner = caller.user.admin || caller.user.id === id ? await findUser(database, id) : null
  if (!owner) throw invalid({ namespace: ['is not valid'] })
  return owner
}
