import type { Caller } from './caller.js'

/** GitLab's access levels. */
export const accessLevels = { guest: 10, reporter: 20, developer: 30, maintainer: 40, owner: 50 } as const

export type Visibility = 'private' | 'internal' | 'public'

export interface ProjectAccess {
  ownerId: number
  visibility: Visibility
}

/**
 * The level at which somebody acts on a project: 0 when they have none, 50 for its owner and for
 * administrators. Internal and public projects count every signed-in user as a guest at least.
 *
 * @param memberLevel the access level of the membership row, null without one
 */
export function effectiveLevel(project: ProjectAccess, caller: Caller | null, memberLevel: number | null) {
  if (!caller) return 0
  if (caller.user.admin || caller.user.id === project.ownerId) return accessLevels.owner
  const floor = project.visibility === 'private' ? 0 : accessLevels.guest
  return Math.max(floor, memberLevel ?? 0)
}

/** Whether a project exists for this caller at all; where not, it is answered like a missing one. */
export function canSeeProject(project: ProjectAccess, caller: Caller | null, memberLevel: number | null) {
  return project.visibility === 'public' || effectiveLevel(project, caller, memberLevel) > 0
}

/** Code, diffs and comments: everybody who sees an open project, reporters of a private one. */
export function canReadCode(project: ProjectAccess, caller: Caller | null, memberLevel: number | null) {
  if (project.visibility === 'public') return true
  const needed = project.visibility === 'internal' ? accessLevels.guest : accessLevels.reporter
  return effectiveLevel(project, caller, memberLevel) >= needed
}

/** Statuses of commits: like code, but never without signing in. */
export function canReadStatuses(project: ProjectAccess, caller: Caller | null, memberLevel: number | null) {
  return caller !== null && canReadCode(project, caller, memberLevel)
}
