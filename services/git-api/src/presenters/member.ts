import type { MemberWithUser } from '@switchyard/db'
import { presentUser } from './user.js'

/** A member: the user, and what the membership adds. */
export const presentMember = ({ user, accessLevel, createdAt }: MemberWithUser, baseUrl: string) => ({
  ...presentUser(user, baseUrl),
  access_level: accessLevel,
  created_at: createdAt,
  expires_at: null,
  membership_state: 'active',
})
