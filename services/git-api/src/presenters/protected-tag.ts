import type { ProtectedTag } from '@switchyard/db'
import { levelsOfTag } from '@switchyard/domain/access'
import { z } from 'zod'
import { presentProtectionLevels, protectionLevelShape } from './protection-level.js'

export const protectedTagShape = z
  .object({ name: z.string(), create_access_levels: z.array(protectionLevelShape) })
  .meta({ id: 'ProtectedTag', description: 'A tag, or a pattern of tags, and who may create it' })

/** A protection in GitLab's shape. */
export const presentProtectedTag = (tag: ProtectedTag): z.output<typeof protectedTagShape> => ({
  name: tag.name,
  create_access_levels: presentProtectionLevels(tag.id, levelsOfTag(tag)),
})
