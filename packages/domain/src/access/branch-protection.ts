import { accessLevels } from './project-roles.js'

export interface BranchProtection {
  /** Branch name or pattern; `*` stands for any characters, slashes included. */
  name: string
  /** Lowest level that may push; 0 means nobody. */
  pushAccessLevel: number
  allowForcePush: boolean
}

/** Whether a protection covers a branch. */
export function covers(protection: BranchProtection, branch: string): boolean {
  const pattern = protection.name
    .split('*')
    .map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
    .join('.*')
  return new RegExp(`^${pattern}$`, 's').test(branch)
}

/**
 * Whether somebody at this level may move a branch. Without a protection every developer may; where
 * several protections cover it, one that lets them suffices.
 */
export function canPush(branch: string, level: number, protections: readonly BranchProtection[]): boolean {
  if (level < accessLevels.developer) return false
  const covering = protections.filter((protection) => covers(protection, branch))
  if (covering.length === 0) return true
  return covering.some(({ pushAccessLevel }) => pushAccessLevel > 0 && level >= pushAccessLevel)
}

/** Whether a push may drop commits of a branch, or the branch itself. */
export function canForcePush(branch: string, protections: readonly BranchProtection[]): boolean {
  return protections
    .filter((protection) => covers(protection, branch))
    .every((protection) => protection.allowForcePush)
}
