import { compileWildcard } from '../wildcard.js'
import { accessLevels } from './project-roles.js'

/** Longest name or pattern of a protection, in characters. */
export const protectionNameLengthMax = 255
/**
 * Largest number of branch protections of a project, and of its tag protections. It is limited because each
 * reference of a push is compared with all of them.
 */
export const protectionsPerProjectMax = 500

export interface BranchProtection {
  /** Branch name or pattern; `*` matches any characters, also slashes. */
  name: string
  /** Lowest access level that may push; 0: nobody may push. */
  pushAccessLevel: number
  allowForcePush: boolean
}

/** Compiles patterns into a function that finds the protections of a branch or tag. */
export function compileProtections<Protection extends { name: string }>(
  protections: readonly Protection[],
): (name: string) => Protection[] {
  const compiled = protections.map((protection) => ({
    protection,
    matches: compileWildcard(protection.name),
  }))
  return (name) => compiled.filter(({ matches }) => matches(name)).map(({ protection }) => protection)
}

/**
 * Returns whether a user with this access level may push to a branch. Every developer may push to an
 * unprotected branch. When several protections match a branch, one that allows the push is enough.
 */
export const canPush = (branch: string, level: number, protections: readonly BranchProtection[]): boolean =>
  coveredAllowsPush(level, compileProtections(protections)(branch))

/** Returns whether a push may remove commits of a branch. */
export const canForcePush = (branch: string, protections: readonly BranchProtection[]): boolean =>
  coveredAllowsForce(compileProtections(protections)(branch))

/**
 * Applies the rule of {@link canPush}.
 *
 * @param covering the protections that cover the branch
 */
export function coveredAllowsPush(level: number, covering: readonly BranchProtection[]): boolean {
  if (level < accessLevels.developer) return false
  if (covering.length === 0) return true
  return covering.some(({ pushAccessLevel }) => pushAccessLevel > 0 && level >= pushAccessLevel)
}

/**
 * Applies the rule of {@link canForcePush}.
 *
 * @param covering the protections that cover the branch
 */
export const coveredAllowsForce = (covering: readonly BranchProtection[]): boolean =>
  covering.every(({ allowForcePush }) => allowForcePush)

/**
 * Returns whether a user with this access level may delete a branch other than the default branch: developers
 * may delete unprotected branches, maintainers also protected ones.
 *
 * @param covering the protections that cover the branch
 */
export const coveredAllowsDelete = (level: number, covering: readonly BranchProtection[]): boolean =>
  level >= (covering.length > 0 ? accessLevels.maintainer : accessLevels.developer)
