import { deleteProtectedBranch as removeBranch } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import { endpoint, noContent, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'

/** `DELETE /projects/:id/protected_branches/:name`: the branch itself stays. */
export const deleteProtectedBranch = ({ database }: Dependencies) =>
  endpoint({
    input: z.object({ name: text() }),
    async handle({ name }, { project }: ProjectCall) {
      if (!(await removeBranch(database, project.id, name))) throw notFound()
      return noContent()
    },
  })
