import type { ProtectedBranch } from '@switchyard/db'
import { z } from 'zod'

const levelShape = z.object({
  id: z.int(),
  access_level: z.int().meta({ enum: [0, 30, 40] }),
  access_level_description: z.string(),
  user_id: z.null(),
  group_id: z.null(),
  deploy_key_id: z.null(),
})

export const protectedBranchShape = z
  .object({
    id: z.int(),
    name: z.string(),
    push_access_levels: z.array(levelShape),
    merge_access_levels: z.array(levelShape),
    allow_force_push: z.boolean(),
  })
  .meta({ id: 'ProtectedBranch', description: 'A branch, or a pattern of branches, and who may push there' })

const descriptions = new Map([
  [0, 'No one'],
  [30, 'Developers + Maintainers'],
  [40, 'Maintainers'],
])

/** A protection in GitLab's shape. Without merge requests, the right to merge is the right to push. */
export function presentProtectedBranch({
  id,
  name,
  pushAccessLevel,
  allowForcePush,
}: ProtectedBranch): z.output<typeof protectedBranchShape> {
  const level = {
    id,
    access_level: pushAccessLevel,
    access_level_description: descriptions.get(pushAccessLevel) ?? '',
    user_id: null,
    group_id: null,
    deploy_key_id: null,
  }
  return {
    id,
    name,
    push_access_levels: [level],
    merge_access_levels: [level],
    allow_force_push: allowForcePush,
  }
}
