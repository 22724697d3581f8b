import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, created, endpoint, filledText, flag } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { presentProtectedBranch, protectedBranchShape } from '../../presenters/protected-branch.js'
import { protectBranch } from '../../use-cases/protect-branch.js'
import { accessLevel } from '../parameters.js'

const input = z.object({
  name: filledText(),
  push_access_level: accessLevel(0, 30, 40).default(40),
  allow_force_push: flag().default(false),
})

/** `POST /projects/:id/protected_branches` */
export const createProtectedBranch = (deps: Dependencies) =>
  endpoint({
    summary: 'Protect a branch, or branches by a pattern',
    replies: { 201: protectedBranchShape },
    refusals: [409],
    input,
    async handle(
      { name, push_access_level, allow_force_push },
      { project, caller }: ProjectCall<Caller>,
      call,
    ) {
      const given = {
        projectId: project.id,
        name,
        pushAccessLevel: push_access_level,
        allowForcePush: allow_force_push,
      }
      const branch = await protectBranch(deps, given, auditAuthor(caller, call))
      return created(presentProtectedBranch(branch))
    },
  })
