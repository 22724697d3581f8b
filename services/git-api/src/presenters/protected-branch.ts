import type { ProtectedBranch } from '@switchyard/db'
import { z } from 'zod'
import { presentProtectionLevel, protectionLevelShape } from './protection-level.js'

export const protectedBranchShape = z
  .object({
    id: z.int(),
    name: z.string(),
    push_access_levels: z.array(protectionLevelShape),
    merge_access_levels: z.array(protectionLevelShape),
    allow_force_push: z.boolean(),
  })
  .meta({ id: 'ProtectedBranch', description: 'A branch, or a pattern of branches, and who may push there' })

/** A protection in GitLab's shape. Without merge requests, the right to merge is the right to push. */
export function presentProtectedBranch({
  id,
  name,
  pushAccessLevel,
  allowForcePush,
}: ProtectedBranch): z.output<typeof protectedBranchShape> {
  const level = presentProtectionLevel(id, pushAccessLevel)
  return {
    id,
    name,
    push_access_levels: [level],
    merge_access_levels: [level],
    allow_force_push: allowForcePush,
  }
}
