import type { PoolClient, Pooled, Prisma, Rows } from '@switchyard/db'
import {
  type DatabaseOrTransaction,
  type Environment,
  inPoolTransaction,
  requireUnchanged,
  unendedMembership,
} from '@switchyard/db'
import {
  insertInto,
  integer,
  likeText,
  lockProjectRow,
  omit,
  queryOf,
  rowColumns,
  selectList,
  text,
  time,
} from '@switchyard/db/sql'
import { invalid, type Precondition } from '@switchyard/domain'
import { accessLevels, type Caller } from '@switchyard/domain/access'
import {
  type EnvironmentTier,
  environmentSlug,
  environmentsPerProjectMax,
} from '@switchyard/domain/deployment'

/** The columns of `environments`. */
const environments = rowColumns<Environment>({
  projectId: integer('project_id'),
  id: integer('id'),
  name: text('name'),
  slug: text('slug'),
  externalUrl: text('external_url'),
  tier: text('tier'),
  description: text('description'),
  autoStopSetting: text('auto_stop_setting'),
  state: text('state'),
  createdAt: time('created_at'),
  updatedAt: time('updated_at'),
})

export const environmentColumns = selectList('stored', environments)

/** Inserts an environment and returns the new row; nothing when the project has too many environments. */
const insertEnvironmentRow = insertInto(
  'add-environment',
  'environments',
  omit(environments, 'id', 'state', 'createdAt', 'updatedAt'),
  `WHERE (SELECT count(*) FROM environments WHERE project_id = given.project_id) < ${environmentsPerProjectMax}
    RETURNING ${environmentColumns}`,
)

/**
 * Returns the condition for projects whose environments and deployments a caller may read, with the same rule
 * as the guard `readDeployments`. An empty condition: all projects.
 */
export function projectsWithReadableDeployments({ user, token }: Caller): Prisma.ProjectWhereInput {
  const member = { userId: user.id, accessLevel: { gte: accessLevels.reporter }, ...unendedMembership() }
  return {
    ...(token.projectId == null ? {} : { id: token.projectId }),
    ...(user.admin ? {} : { OR: [{ ownerId: user.id }, { members: { some: member } }] }),
  }
}

/** An environment to add. */
export interface NewEnvironment {
  projectId: number
  name: string
  tier: EnvironmentTier
  externalUrl: string | null
  description: string | null
  autoStopSetting: string
}

const byName = {
  name: 'environment-by-name',
  text: `SELECT ${environmentColumns} FROM environments AS stored WHERE project_id = $1 AND name = $2`,
}

/** @param client of a transaction that has locked the project */
export async function findEnvironmentByName(
  client: PoolClient,
  projectId: number,
  name: string,
): Promise<Environment | null> {
  const { rows } = await client.query<Environment>({ ...byName, values: [projectId, name] })
  return rows[0] ?? null
}

/**
 * @param client of a transaction that has locked the project and found no environment of this name
 * @throws DomainError invalid when the project has too many environments
 */
export async function insertEnvironment(client: PoolClient, given: NewEnvironment): Promise<Environment> {
  const row = { ...given, slug: environmentSlug(given.name) }
  const { rows } = await client.query<Environment>(queryOf(insertEnvironmentRow, [row]))
  const [environment] = rows
  if (!environment) throw invalid(`A project can have ${environmentsPerProjectMax} environments at most`)
  return environment
}

/** Starts a stopped environment again. @param client of a transaction that has locked the project */
export async function startAgain(client: PoolClient, projectId: number, id: number): Promise<void> {
  await client.query(
    `UPDATE environments SET state = 'available', updated_at = now()
     WHERE project_id = $1 AND id = $2 AND state <> 'available'`,
    [projectId, id],
  )
}

/**
 * Adds an environment. Every transaction that adds or deletes environments, or writes deployments, locks the
 * project first, so that limits and moves hold with several writers and no deadlock is possible.
 *
 * @returns null when the project has an environment of this name
 * @throws DomainError not-found for the project; invalid when it has too many environments
 */
export const createEnvironment = ({ pool }: Pooled, given: NewEnvironment): Promise<Environment | null> =>
  inPoolTransaction(pool, async (client) => {
    await lockProjectRow(client, given.projectId)
    const known = await findEnvironmentByName(client, given.projectId, given.name)
    return known ? null : insertEnvironment(client, given)
  })

export interface EnvironmentFilter {
  projectId: number
  name?: string | undefined
  /** Part of the name; case does not matter. */
  search?: string | undefined
  state?: string | undefined
}

/** Returns one page of a project's environments by id, and the number of all that match. */
export async function listEnvironments(
  { prisma }: DatabaseOrTransaction,
  { projectId, name, search, state }: EnvironmentFilter,
  rows: Rows,
): Promise<{ environments: Environment[]; total: number }> {
  const part = search === undefined ? {} : { contains: likeText(search), mode: 'insensitive' as const }
  const where = { projectId, state, name: name === undefined ? part : name }
  const [environments, total] = await Promise.all([
    prisma.environment.findMany({ where, orderBy: { id: 'asc' }, ...rows }),
    prisma.environment.count({ where }),
  ])
  return { environments, total }
}

export const findEnvironment = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  id: number,
): Promise<Environment | null> =>
  prisma.environment.findUnique({ where: { projectId_id: { projectId, id } } })

export type EnvironmentChanges = Partial<
  Pick<Environment, 'tier' | 'externalUrl' | 'description' | 'autoStopSetting' | 'state'>
>

/** @returns null when there is no such environment */
export async function updateEnvironment(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  id: number,
  changes: EnvironmentChanges,
): Promise<Environment | null> {
  const [environment] = await prisma.environment.updateManyAndReturn({
    where: { projectId, id },
    data: { ...changes, updatedAt: new Date() },
  })
  return environment ?? null
}

/**
 * Stops the environments without deployments and changes since a time, except protected ones.
 *
 * @returns their number
 */
export const stopEnvironmentsOlderThan = (
  { pool }: Pooled,
  projectId: number,
  before: Date,
): Promise<number> =>
  inPoolTransaction(pool, async (client) => {
    await lockProjectRow(client, projectId)
    const { rowCount } = await client.query(
      `UPDATE environments AS stale SET state = 'stopped', updated_at = CURRENT_TIMESTAMP
        WHERE project_id = $1 AND state = 'available' AND updated_at < $2 AND NOT EXISTS (
          SELECT FROM deployments AS d WHERE d.project_id = $1 AND d.environment_id = stale.id AND d.updated_at >= $2
        ) AND NOT EXISTS (SELECT FROM protected_environments AS p WHERE p.project_id = $1 AND p.name = stale.name)`,
      [projectId, before],
    )
    return rowCount ?? 0
  })

/**
 * Deletes a stopped environment with its deployments.
 *
 * @returns whether there was such a stopped environment
 * @throws DomainError precondition-failed
 */
export const deleteStoppedEnvironment = (
  { pool }: Pooled,
  projectId: number,
  id: number,
  precondition: Precondition | undefined,
): Promise<boolean> =>
  inPoolTransaction(pool, async (client) => {
    await lockProjectRow(client, projectId)
    await requireUnchanged(client, 'environments', { project_id: projectId, id }, precondition)
    const { rowCount } = await client.query(
      `DELETE FROM environments WHERE project_id = $1 AND id = $2 AND state = 'stopped'`,
      [projectId, id],
    )
    return rowCount === 1
  })
