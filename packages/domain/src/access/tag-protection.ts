import { accessLevels } from './project-roles.js'

export interface TagProtection {
  /** Tag name or pattern; `*` matches any characters, also slashes. */
  name: string
  /** Lowest access level that may create the tag; 0: nobody may. */
  createAccessLevel: number
}

/**
 * Returns whether a user with this access level may create a tag. Every developer may create an unprotected
 * tag. When several protections match a tag, one that allows it is enough.
 *
 * @param covering the protections that cover the tag
 */
export function coveredAllowsTag(level: number, covering: readonly TagProtection[]): boolean {
  if (level < accessLevels.developer) return false
  if (covering.length === 0) return true
  return covering.some(({ createAccessLevel }) => createAccessLevel > 0 && level >= createAccessLevel)
}

/**
 * Returns whether a user with this access level may delete a tag: developers may delete unprotected tags,
 * maintainers also protected ones.
 *
 * @param covering the protections that cover the tag
 */
export const coveredAllowsTagDelete = (level: number, covering: readonly TagProtection[]): boolean =>
  level >= (covering.length > 0 ? accessLevels.maintainer : accessLevels.developer)
