import { findUser } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import { type Call, endpoint, ok } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { projectShape } from '../../presenters/project.js'
import { describeProject } from '../../use-cases/describe-project.js'

/** `GET /projects/:id` */
export const getProject = (deps: Dependencies) =>
  endpoint({
    summary: 'One project',
    replies: { 200: projectShape },
    input: z.object({}),
    async handle(_input, { project, memberLevel, caller }: ProjectCall, call: Call) {
      const owner = await findUser(deps.database, project.ownerId)
      if (!owner) throw notFound('Project')
      const found = { project: { ...project, owner }, memberLevel }
      return ok(await describeProject(deps, found, caller, call))
    },
  })
