import type {
  DatabaseOrTransaction,
  Deployment,
  DeploymentApproval,
  ProtectedEnvironment,
  User,
} from '@switchyard/db'
import { lockProjectRow } from '@switchyard/db/sql'
import type { ApprovalRule, EnvironmentParty, EnvironmentProtection } from '@switchyard/domain/deployment'

/** A protection, with the lists that its JSON columns hold. */
export interface ProtectionOfEnvironment extends EnvironmentProtection {
  id: number
  name: string
  updatedAt: Date
}

const read = ({ id, name, updatedAt, ...row }: ProtectedEnvironment): ProtectionOfEnvironment => ({
  ...{ id, name, updatedAt },
  deployers: row.deployAccessLevels as unknown as EnvironmentParty[],
  requiredApprovalCount: row.requiredApprovalCount,
  approvalRules: row.approvalRules as unknown as ApprovalRule[],
})

const columnsOf = ({ deployers, requiredApprovalCount, approvalRules }: EnvironmentProtection) => ({
  deployAccessLevels: deployers.map((party) => ({ ...party })),
  requiredApprovalCount,
  approvalRules: approvalRules.map((rule) => ({ ...rule })),
})

/** Every protection of a project, by name. */
export async function listProtections(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
): Promise<ProtectionOfEnvironment[]> {
  return (await prisma.protectedEnvironment.findMany({ where: { projectId }, orderBy: { name: 'asc' } })).map(
    read,
  )
}

/** @param name the whole name of the environment */
export async function findProtection(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  name: string,
): Promise<ProtectionOfEnvironment | null> {
  const row = await prisma.protectedEnvironment.findUnique({ where: { projectId_name: { projectId, name } } })
  return row && read(row)
}

/** The same, and keeps others from changing protections of the project until the transaction ends. */
export async function lockProtection(
  transaction: DatabaseOrTransaction,
  projectId: number,
  name: string,
): Promise<ProtectionOfEnvironment | null> {
  await lockProjectRow(transaction, projectId)
  return findProtection(transaction, projectId, name)
}

export const countProtections = ({ prisma }: DatabaseOrTransaction, projectId: number): Promise<number> =>
  prisma.protectedEnvironment.count({ where: { projectId } })

export async function createProtection(
  { prisma }: DatabaseOrTransaction,
  { projectId, name, ...rules }: EnvironmentProtection & { projectId: number; name: string },
): Promise<ProtectionOfEnvironment> {
  return read(await prisma.protectedEnvironment.create({ data: { projectId, name, ...columnsOf(rules) } }))
}

export async function updateProtection(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  id: number,
  rules: EnvironmentProtection,
): Promise<ProtectionOfEnvironment> {
  const where = { projectId_id: { projectId, id } }
  const data = { ...columnsOf(rules), updatedAt: new Date() }
  return read(await prisma.protectedEnvironment.update({ where, data }))
}

export async function deleteProtection(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  id: number,
): Promise<void> {
  await prisma.protectedEnvironment.delete({ where: { projectId_id: { projectId, id } } })
}

export type ApprovalWithUser = DeploymentApproval & {
  user: Pick<User, 'id' | 'username' | 'name' | 'state'> | null
}

/** What was said about a deployment, in the order in which it was said first. */
export const listApprovals = (
  { prisma }: DatabaseOrTransaction,
  { projectId, id: deploymentId }: Pick<Deployment, 'projectId' | 'id'>,
): Promise<ApprovalWithUser[]> =>
  prisma.deploymentApproval.findMany({
    where: { projectId, deploymentId },
    orderBy: { id: 'asc' },
    include: { user: true },
  })

type GivenApproval = Pick<
  DeploymentApproval,
  'projectId' | 'deploymentId' | 'accessLevel' | 'status' | 'comment'
> & { userId: number }

/** Stores the word of a user, in place of an earlier one. */
export function saveApproval(
  { prisma }: DatabaseOrTransaction,
  given: GivenApproval,
): Promise<ApprovalWithUser> {
  const { projectId, deploymentId, userId, accessLevel, status, comment } = given
  return prisma.deploymentApproval.upsert({
    where: { projectId_deploymentId_userId: { projectId, deploymentId, userId } },
    create: { projectId, deploymentId, userId, accessLevel, status, comment },
    update: { accessLevel, status, comment, createdAt: new Date() },
    include: { user: true },
  })
}
