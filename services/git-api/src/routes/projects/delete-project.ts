import type { Caller } from '@switchyard/domain/access'
import { accepted, auditAuthor, endpoint } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { removeProject } from '../../use-cases/remove-project.js'

/** `DELETE /projects/:id`: gone when the answer arrives. */
export const deleteProject = (deps: Dependencies) =>
  endpoint({
    summary: 'Delete a project with everything in it',
    replies: { 202: z.object({ message: z.string() }) },
    input: z.object({}),
    async handle(_input, { project, caller }: ProjectCall<Caller>, call) {
      await removeProject(deps, project, auditAuthor(caller, call))
      return accepted({ message: '202 Accepted' })
    },
  })
