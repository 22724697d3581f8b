/** Level of administrators, among the levels that may lift a protection. */
export const administratorLevel = 60

/** Returns the lowest of the levels that allows something; 0: nobody is allowed. */
export function lowestLevel(levels: readonly number[]): number {
  const allowing = levels.filter((level) => level > 0)
  return allowing.length === 0 ? 0 : Math.min(...allowing)
}

/** Distance between the ids of the levels of two protections, larger than every level. */
const idsOfProtection = 100

/** Returns the id of a level of a protection, unique among all protections of its kind. */
export const protectionLevelId = (protectionId: number, level: number): number =>
  protectionId * idsOfProtection + level

/** A level to add, or the change or removal of an existing level that `id` names. */
export interface LevelChange {
  /** An id of {@link protectionLevelId}. */
  id?: number | undefined
  level?: number | undefined
  takesAway: boolean
}

/**
 * Returns the levels of a protection after changes, each level once. Returns the index of a change instead
 * when it names no level, or a level that the protection does not have.
 */
export function changeLevels(
  protectionId: number,
  current: readonly number[],
  changes: readonly LevelChange[],
): { levels: number[] } | { problem: number } {
  let levels = [...current]
  for (const [index, { id, level, takesAway }] of changes.entries()) {
    const known = current.find((one) => protectionLevelId(protectionId, one) === id)
    const needed = takesAway ? known : level
    if (needed === undefined || (id !== undefined && known === undefined)) return { problem: index }
    levels = levels.filter((one) => one !== known)
    if (!takesAway) levels.push(needed)
  }
  return { levels: [...new Set(levels)] }
}

/** Access levels of a protected branch, as the caller sent them. 0 among them: nobody. */
export interface BranchLevels {
  push: number[]
  merge: number[]
  /** Levels that may lift the protection. Empty: every maintainer. */
  unprotect: number[]
}

/** The stored form of the levels of a branch. */
export interface StoredBranchLevels {
  pushAccessLevel: number
  pushAccessLevels: number[]
  mergeAccessLevels: number[]
  unprotectAccessLevels: number[]
}

/**
 * Returns the levels of a stored branch. Rows of older versions have only the level for pushing, which then
 * also applies to merging.
 */
export function levelsOfBranch(branch: StoredBranchLevels): BranchLevels {
  const { pushAccessLevel, pushAccessLevels, mergeAccessLevels, unprotectAccessLevels } = branch
  const push = pushAccessLevels.length > 0 ? pushAccessLevels : [pushAccessLevel]
  return {
    push,
    merge: mergeAccessLevels.length > 0 ? mergeAccessLevels : push,
    unprotect: unprotectAccessLevels,
  }
}

/** Returns the levels of a stored tag. Rows of older versions have a single level. */
export const levelsOfTag = (tag: { createAccessLevel: number; createAccessLevels: number[] }): number[] =>
  tag.createAccessLevels.length > 0 ? tag.createAccessLevels : [tag.createAccessLevel]
