import type { ProtectedBranch } from '@switchyard/db'

const descriptions = new Map([
  [0, 'No one'],
  [30, 'Developers + Maintainers'],
  [40, 'Maintainers'],
])

/** A protection in GitLab's shape. There are no merge requests: whoever may push may merge. */
export function presentProtectedBranch({ id, name, pushAccessLevel, allowForcePush }: ProtectedBranch) {
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
