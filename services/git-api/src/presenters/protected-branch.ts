import type { ProtectedBranch } from '@switchyard/db'
import { levelsOfBranch } from '@switchyard/domain/access'
import { z } from 'zod'
import { presentProtectionLevels, protectionLevelShape } from './protection-level.js'

export const protectedBranchShape = z
  .object({
    id: z.int(),
    name: z.string(),
    push_access_levels: z.array(protectionLevelShape),
    merge_access_levels: z.array(protectionLevelShape),
    unprotect_access_levels: z.array(protectionLevelShape),
    allow_force_push: z.boolean(),
    code_owner_approval_required: z.boolean(),
  })
  .meta({ id: 'ProtectedBranch', description: 'A branch, or a pattern of branches, and who may push there' })

/** A protection in GitLab's shape. */
export function presentProtectedBranch(branch: ProtectedBranch): z.output<typeof protectedBranchShape> {
  const { id, name, allowForcePush, codeOwnerApprovalRequired } = branch
  const { push, merge, unprotect } = levelsOfBranch(branch)
  return {
    id,
    name,
    push_access_levels: presentProtectionLevels(id, push),
    merge_access_levels: presentProtectionLevels(id, merge),
    unprotect_access_levels: presentProtectionLevels(id, unprotect),
    allow_force_push: allowForcePush,
    code_owner_approval_required: codeOwnerApprovalRequired,
  }
}
