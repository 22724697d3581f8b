import { startOfDay } from '@switchyard/domain/access'
import type { Prisma } from './generated/client.js'

/**
 * Returns a condition for memberships that have not ended. Ended memberships give no rights until the user is
 * added again.
 */
export const unendedMembership = (): { OR: Prisma.ProjectMemberWhereInput[] } => ({
  OR: [{ expiresAt: null }, { expiresAt: { gt: startOfDay(new Date()) } }],
})

/** The same condition as SQL, about the row `m`. */
export const unendedMembershipSql = `(m.expires_at IS NULL OR m.expires_at > (now() AT TIME ZONE 'UTC')::date)`
