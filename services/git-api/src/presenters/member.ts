import type { MemberWithUser } from '@switchyard/db'
import { accessLevels, dayText } from '@switchyard/domain/access'
import { z } from 'zod'
import { presentUser, userShape } from './user.js'

export const accessLevelShape = z.int().meta({ enum: Object.values(accessLevels) })

export const memberShape = z
  .object({
    ...userShape.shape,
    access_level: accessLevelShape,
    created_at: z.date(),
    expires_at: z.string().meta({ format: 'date' }).nullable(),
    membership_state: z.string(),
  })
  .meta({ id: 'Member', description: 'A user, and what the membership adds' })

/** The fields of the user, then the fields of the membership. */
export const presentMember = (
  { user, accessLevel, createdAt, expiresAt }: MemberWithUser,
  baseUrl: string,
): z.output<typeof memberShape> => ({
  ...presentUser(user, baseUrl),
  access_level: accessLevel,
  created_at: createdAt,
  expires_at: expiresAt && dayText(expiresAt),
  membership_state: 'active',
})
