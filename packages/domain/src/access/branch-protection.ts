import { compileWildcard } from '../wildcard.js'
import { accessLevels } from './project-roles.js'

/** Longest name or pattern of a protection, in characters. */
export const protectionNameLengthMax = 255
/** Most protections of one project: each reference of a push is held against all of them. */
export const protectionsPerProjectMax = 500

export interface BranchProtection {
  /** Branch name or pattern; `*` stands for any characters, slashes included. */
  name: string
  /** Lowest level that may push; 0 means nobody. */
  pushAccessLevel: number
  allowForcePush: boolean
}

/** Finds the protections that cover a branch; compiles the patterns once, for many branches. */
export function compileProtections<Protection extends BranchProtection>(
  protections: readonly Protection[],
): (branch: string) => Protection[] {
  const compiled = protections.map((protection) => ({
    protection,
    matches: compileWildcard(protection.name),
  }))
  return (branch) => compiled.filter(({ matches }) => matches(branch)).map(({ protection }) => protection)
}

/**
 * Whether somebody at this level may move a branch. Without a protection every developer may; where several protections
 * cover it, one that lets them suffices.
 */
export const canPush = (branch: string, level: number, protections: readonly BranchProtection[]): boolean =>
  coveredAllowsPush(level, compileProtections(protections)(branch))

/** Whether a push may drop commits of a branch. */
export const canForcePush = (branch: string, protections: readonly BranchProtection[]): boolean =>
  coveredAllowsForce(compileProtections(protections)(branch))

/** The rule of {@link canPush}. @param covering the protections that cover the branch */
export function coveredAllowsPush(level: number, covering: readonly BranchProtection[]): boolean {
  if (level < accessLevels.developer) return false
  if (covering.length === 0) return true
  return covering.some(({ pushAccessLevel }) => pushAccessLevel > 0 && level >= pushAccessLevel)
}

/** The rule of {@link canForcePush}. @param covering the protections that cover the branch */
export const coveredAllowsForce = (covering: readonly BranchProtection[]): boolean =>
  covering.every(({ allowForcePush }) => allowForcePush)

/**
 * Whether somebody at this level may delete a branch that is not the default branch: maintainers a protected one,
 * whoever may push there, and developers every other one.
 *
 * @param covering the protections that cover the branch
 */
export const coveredAllowsDelete = (level: number, covering: readonly BranchProtection[]): boolean =>
  level >= (covering.length > 0 ? accessLevels.maintainer : accessLevels.developer)
