import type { AuditAuthor, PrismaTransaction } from '@switchyard/db'
import { recordProjectEvent, recordUserEvent } from '../../audit/audit.js'
import type { SignInProvider } from '../../sign-in-config.js'
import { lockActiveAdministrators, updateUser } from '../users/store.js'
import {
  changeRole,
  type GroupRole,
  giveRoles,
  type IdentityOfUser,
  listGivenRoles,
  listRolesByRules,
  takeRole,
  updateIdentity,
} from './store.js'

/** The rights that the groups of an identity grant. */
interface GroupGrants {
  isAdministrator: boolean
  roles: readonly GroupRole[]
}

export const grantsOf = (groups: ReadonlySet<string>, provider: SignInProvider): GroupGrants => ({
  isAdministrator: provider.admin_groups.some((group) => groups.has(group)),
  roles: provider.group_roles.filter(({ group }) => groups.has(group)),
})

const noGrants: GroupGrants = { isAdministrator: false, roles: [] }

/**
 * Grants a user the rights of their groups and revokes rights that the groups granted earlier. Rights that
 * others have granted stay.
 *
 * @returns the projects in which the user has another role now
 */
export async function applyGroups(
  transaction: PrismaTransaction,
  identity: IdentityOfUser,
  grants: GroupGrants,
  author: AuditAuthor,
): Promise<number[]> {
  await applyAdministrator(transaction, identity, grants, author)
  return applyRoles(transaction, identity, grants, author)
}

/** Revokes all rights that the groups of an identity have granted. */
export const takeGroupsAway = (
  transaction: PrismaTransaction,
  identity: IdentityOfUser,
  author: AuditAuthor,
): Promise<number[]> => applyGroups(transaction, identity, noGrants, author)

async function applyAdministrator(
  transaction: PrismaTransaction,
  { id, user, gaveAdmin, provider }: IdentityOfUser,
  { isAdministrator }: GroupGrants,
  author: AuditAuthor,
): Promise<void> {
  const mustChange = isAdministrator ? !user.admin : gaveAdmin
  if (!mustChange) return
  const administrators = await lockActiveAdministrators(transaction)
  // The last administrator keeps the rights until there is another one.
  if (!isAdministrator && administrators.length === 1 && administrators[0] === user.id) return
  await updateIdentity(transaction, id, { gaveAdmin: isAdministrator })
  if (user.admin === isAdministrator) return
  await updateUser(transaction, user.id, { admin: isAdministrator })
  await recordUserEvent(transaction, author, user.id, 'user_updated', {
    changed: ['admin'],
    username: user.username,
    admin: isAdministrator,
    provider,
  })
}

async function applyRoles(
  transaction: PrismaTransaction,
  identity: IdentityOfUser,
  { roles }: GroupGrants,
  author: AuditAuthor,
): Promise<number[]> {
  const { userId, provider } = identity
  const wanted = await listRolesByRules(transaction, userId, roles)
  const given = await listGivenRoles(transaction, identity.id)
  const changed: number[] = []
  const record = async (projectId: number, event: string, details: Record<string, number>) => {
    await recordProjectEvent(transaction, author, projectId, event, { user_id: userId, ...details, provider })
    changed.push(projectId)
  }
  for (const member of given) {
    const { projectId, accessLevel } = member
    const level = wanted.get(projectId)
    wanted.delete(projectId)
    if (level === undefined) {
      if (!(await takeRole(transaction, member))) continue
      await record(projectId, 'member_removed', { access_level: accessLevel })
    } else if (level !== accessLevel) {
      if (!(await changeRole(transaction, member, level))) continue
      await record(projectId, 'member_changed', { access_level: level, access_level_before: accessLevel })
    }
  }
  for (const projectId of await giveRoles(transaction, identity, wanted)) {
    await record(projectId, 'member_added', { access_level: wanted.get(projectId) ?? 0 })
  }
  return changed
}
