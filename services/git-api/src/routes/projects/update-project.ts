import { invalidParameters } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, endpoint, filledText, ok, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { projectShape } from '../../presenters/project.js'
import { changeProject } from '../../use-cases/change-project.js'
import { describeProject } from '../../use-cases/describe-project.js'
import { optional } from '../optional.js'
import { visibilities } from './visibilities.js'

const input = z.object({
  name: optional(filledText()),
  path: optional(filledText()),
  description: text().nullish(),
  visibility: optional(z.enum(visibilities)),
  default_branch: optional(filledText()),
})

const nothing =
  'name, path, description, visibility, default_branch are missing, at least one parameter must be provided'

/** `PUT /projects/:id`: changes what is given. What else GitLab's clients send is passed over. */
export const updateProject = (deps: Dependencies) =>
  endpoint({
    summary: 'Change a project',
    replies: { 200: projectShape },
    input,
    async handle({ default_branch: defaultBranch, ...given }, access: ProjectCall<Caller>, call) {
      const asked = { ...given, defaultBranch }
      if (Object.values(asked).every((value) => value === undefined)) throw invalidParameters([nothing])
      const { caller, memberLevel } = access
      const project = await changeProject(deps, access, asked, auditAuthor(caller, call))
      return ok(await describeProject(deps, { project, memberLevel }, caller, call))
    },
  })
