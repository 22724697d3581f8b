import { protectionLevelId } from '@switchyard/domain/access'
import { z } from 'zod'

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

/** The access levels of a protection in GitLab's shape. @param id of the protection */
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
