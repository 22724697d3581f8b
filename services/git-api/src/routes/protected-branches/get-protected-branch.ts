import { findProtectedBranch } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import { endpoint, ok, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { presentProtectedBranch, protectedBranchShape } from '../../presenters/protected-branch.js'

/** `GET /projects/:id/protected_branches/:name`: the name or pattern as it was protected. */
export const getProtectedBranch = ({ database }: Dependencies) =>
  endpoint({
    summary: 'One protected branch or pattern',
    replies: { 200: protectedBranchShape },
    input: z.object({ name: text() }),
    async handle({ name }, { project }: ProjectCall) {
      const branch = await findProtectedBranch(database, project.id, name)
      if (!branch) throw notFound()
      return ok(presentProtectedBranch(branch))
    },
  })
