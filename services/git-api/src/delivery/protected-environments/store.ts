import type {
  DatabaseOrTransaction,
  Deployment,
  DeploymentApproval,
  PoolClient,
  Pooled,
  PrismaTransaction,
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
  id,
  name,
  updatedAt,
  deployers: row.deployAccessLevels as unknown as EnvironmentParty[],
  requiredApprovalCount: row.requiredApprovalCount,
  approvalRules: row.approvalRules as unknown as ApprovalRule[],
})

const columnsOf = ({ deployers, requiredApprovalCount, approvalRules }: EnvironmentProtection) => ({
  deployAccessLevels: deployers.map((party) => ({ ...party })),
  requiredApprovalCount,
  approvalRules: approvalRules.map((rule) => ({ ...rule })),
})

/** Lists all protections of a project, by name. */
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

/** Returns a protection, and locks the protections of the project until the transaction ends. */
export async function lockProtection(
  transaction: PrismaTransaction,
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

/** Lists the decisions on a deployment, in the order of each user's first decision. */
export const listApprovals = (
  { prisma }: DatabaseOrTransaction,
  { projectId, id: deploymentId }: Pick<Deployment, 'projectId' | 'id'>,
): Promise<ApprovalWithUser[]> =>
  prisma.deploymentApproval.findMany({
    where: { projectId, deploymentId },
    orderBy: { id: 'asc' },
    include: { user: true },
  })

type Approval = Pick<
  DeploymentApproval,
  'projectId' | 'deploymentId' | 'userId' | 'accessLevel' | 'status' | 'comment'
>

/**
 * Lists the approvals and rejections of a deployment within a transaction of plain SQL, without the users.
 */
export async function listDecisions(
  client: PoolClient,
  { projectId, id }: Pick<Deployment, 'projectId' | 'id'>,
): Promise<Pick<Approval, 'userId' | 'accessLevel' | 'status'>[]> {
  const { rows } = await client.query(
    `SELECT user_id AS "userId", access_level AS "accessLevel", status FROM deployment_approvals
     WHERE project_id = $1 AND deployment_id = $2`,
    [projectId, id],
  )
  return rows
}

/** Stores the decision of a user and replaces an earlier one. */
export async function saveApproval(client: PoolClient, given: Approval) {
  const { projectId, deploymentId, userId, accessLevel, status, comment } = given
  const { rows } = await client.query<{ id: bigint; createdAt: Date }>(
    `INSERT INTO deployment_approvals (project_id, deployment_id, user_id, access_level, status, comment)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (project_id, deployment_id, user_id) DO UPDATE SET access_level = EXCLUDED.access_level,
       status = EXCLUDED.status, comment = EXCLUDED.comment, created_at = now()
     RETURNING id, created_at AS "createdAt"`,
    [projectId, deploymentId, userId, accessLevel, status, comment],
  )
  return { ...given, ...(rows[0] as { id: bigint; createdAt: Date }) }
}

/**
 * Lists the users who created the tokens or the rule of a bot; the owner of the project when such a user no
 * longer exists. Empty for users who are not bots.
 */
export async function listMakers({ pool }: Pooled, userId: number): Promise<number[]> {
  const { rows } = await pool.query<{ maker: number }>(
    `SELECT coalesce(t.created_by, p.owner_id) AS maker FROM personal_access_tokens t
     JOIN projects p ON p.id = t.project_id WHERE t.user_id = $1
     UNION SELECT coalesce(r.created_by, p.owner_id) FROM trusted_issuers r
     LEFT JOIN projects p ON p.id = r.project_id WHERE r.user_id = $1`,
    [userId],
  )
  return rows.map(({ maker }) => maker)
}
