import type { Caller } from './caller.js'

/** The access levels of GitLab. */
export const accessLevels = { guest: 10, reporter: 20, developer: 30, maintainer: 40, owner: 50 } as const

/** Who sees a project: its members, every signed-in user, everyone. */
export const visibilities = ['private', 'internal', 'public'] as const
export type Visibility = (typeof visibilities)[number]

export interface ProjectAccess {
  id: number
  ownerId: number
  visibility: Visibility
  archived: boolean
  /**
   * Settings of the project. `repository_access_level` decides who reads the code of a project that is not
   * private.
   */
  settings?: { repository_access_level?: unknown }
}

/**
 * Returns the access level of a caller in a project: 0 without access, 50 for its owner and for
 * administrators. Every signed-in user is at least a guest of internal and public projects.
 *
 * @param memberLevel the access level of the membership row, null without one
 */
export function effectiveLevel(project: ProjectAccess, caller: Caller | null, memberLevel: number | null) {
  if (!caller) return 0
  if (caller.token.deploy) return accessLevels.reporter
  if (caller.user.admin || caller.user.id === project.ownerId) return accessLevels.owner
  const floor = project.visibility === 'private' ? 0 : accessLevels.guest
  return Math.max(floor, memberLevel ?? 0)
}
