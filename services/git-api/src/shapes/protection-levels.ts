import { changeLevels, type LevelChange, protectionLevelId } from '@switchyard/domain/access'
import { flag, list, parameterProblem, rowId } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { accessLevel, optional } from './parameters.js'

export const protectionLevelShape = z.object({
  id: z.int(),
  access_level: z.int().meta({ enum: [0, 30, 40, 60] }),
  access_level_description: z.string(),
  user_id: z.null(),
  group_id: z.null(),
  deploy_key_id: z.null(),
})

const descriptions = new Map([
  [0, 'No one'],
  [30, 'Developers + Maintainers'],
  [40, 'Maintainers'],
  [60, 'Administrators'],
])

/** Returns the access levels of a protection in GitLab's shape. @param id the id of the protection */
export const presentProtectionLevels = (
  id: number,
  levels: readonly number[],
): z.output<typeof protectionLevelShape>[] =>
  levels.map((level) => ({
    id: protectionLevelId(id, level),
    access_level: level,
    access_level_description: descriptions.get(level) ?? '',
    user_id: null,
    group_id: null,
    deploy_key_id: null,
  }))

/** GitLab's fields for entries that are not access levels. */
const others = ['user_id', 'group_id', 'deploy_key_id', 'member_role_id'] as const

const refusedOther = () =>
  z
    .unknown()
    .optional()
    .refine((value) => value === undefined || value === null || value === '', {
      error: 'is not supported: a protection names access levels only',
    })
    .meta({ description: 'Refused: a protection names access levels only' })

/** GitLab's list of access levels to add and, for an existing protection, to change or to remove. */
export const allowedLevels = (...levels: number[]) =>
  optional(
    list(
      z
        .object({
          access_level: optional(accessLevel(...levels)),
          id: optional(rowId()).meta({ description: 'Id of an access level that is changed or removed' }),
          _destroy: flag().default(false).meta({ description: 'Removes the access level with this `id`' }),
          ...Object.fromEntries(others.map((name) => [name, refusedOther()])),
        })
        .transform(
          ({ id, access_level: level, _destroy: takesAway }): LevelChange => ({ id, level, takesAway }),
        ),
    ),
  )

/** Parameters with lists of changes, by their names. */
type Allowed = Record<string, LevelChange[] | undefined>

/**
 * Returns the levels of a new protection. The default applies when the list is empty.
 *
 * @throws DomainError invalid-parameters for an entry without a level
 */
export function newLevels(allowed: Allowed, level: number | undefined, byDefault?: number): number[] {
  const given = level === undefined ? [] : [level]
  const levels = changedLevels({ protectionId: 0, current: given }, allowed)
  return levels.length > 0 || byDefault === undefined ? levels : [byDefault]
}

/**
 * Returns the levels of a protection after changes.
 *
 * @throws DomainError invalid-parameters for an entry that is none of the current levels
 */
export function changedLevels(
  { protectionId, current }: { protectionId: number; current: readonly number[] },
  allowed: Allowed,
): number[] {
  const [[name, changes = []] = ['']] = Object.entries(allowed)
  const changed = changeLevels(protectionId, current, changes)
  if ('levels' in changed) return changed.levels
  const { id } = changes[changed.problem] ?? {}
  throw parameterProblem(
    `${name}[${changed.problem}]${id === undefined ? '' : '[id]'}`,
    id === undefined ? 'names no access level' : 'is invalid',
  )
}
