/** Stands for administrators among the levels that may lift a protection. */
export const administratorLevel = 60

/** The lowest level that one of the levels lets do something; 0: nobody may. */
export function lowestLevel(levels: readonly number[]): number {
  const allowing = levels.filter((level) => level > 0)
  return allowing.length === 0 ? 0 : Math.min(...allowing)
}

/** Room for every level between the ids of the levels of two protections. */
const idsOfProtection = 100

/** The id that a level has among those of all protections of a kind. */
export const protectionLevelId = (protectionId: number, level: number): number =>
  protectionId * idsOfProtection + level

/** A level to add; or, with an id, an existing one to change or to take away. */
export interface LevelChange {
  /** An id of {@link protectionLevelId}. */
  id?: number | undefined
  level?: number | undefined
  takesAway: boolean
}

/**
 * The levels of a protection after changes, each level once; or the index of a change that names no level, or
 * none of the current ones.
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

/** Access levels of a protected branch, as they were given. 0 among them: nobody. */
export interface BranchLevels {
  push: number[]
  merge: number[]
  /** Empty: every maintainer. */
  unprotect: number[]
}

/** What is stored of the levels of a branch. */
export interface StoredBranchLevels {
  pushAccessLevel: number
  pushAccessLevels: number[]
  mergeAccessLevels: number[]
  unprotectAccessLevels: number[]
}

/** A row of an older version has the level for pushing only, which is then also that for merging. */
export function levelsOfBranch(branch: StoredBranchLevels): BranchLevels {
  const { pushAccessLevel, pushAccessLevels, mergeAccessLevels, unprotectAccessLevels } = branch
  const push = pushAccessLevels.length > 0 ? pushAccessLevels : [pushAccessLevel]
  return {
    push,
    merge: mergeAccessLevels.length > 0 ? mergeAccessLevels : push,
    unprotect: unprotectAccessLevels,
  }
}

/** A row of an older version has a single level. */
export const levelsOfTag = (tag: { createAccessLevel: number; createAccessLevels: number[] }): number[] =>
  tag.createAccessLevels.length > 0 ? tag.createAccessLevels : [tag.createAccessLevel]
