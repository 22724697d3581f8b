import type { ProtectedTag } from '@switchyard/db'
import { z } from 'zod'
import { presentProtectionLevel, protectionLevelShape } from './protection-level.js'

export const protectedTagShape = z
  .object({ name: z.string(), create_access_levels: z.array(protectionLevelShape) })
  .meta({ id: 'ProtectedTag', description: 'A tag, or a pattern of tags, and who may create it' })

/** A protection in GitLab's shape. */
export const presentProtectedTag = ({
  id,
  name,
  createAccessLevel,
}: ProtectedTag): z.output<typeof protectedTagShape> => ({
  name,
  create_access_levels: [presentProtectionLevel(id, createAccessLevel)],
})
