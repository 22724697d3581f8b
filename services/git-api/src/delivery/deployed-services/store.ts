import type { Database, DatabaseOrTransaction, Rows } from '@switchyard/db'
import { likeText } from '@switchyard/db/sql'
import type { Caller } from '@switchyard/domain/access'
import { environmentTiers } from '@switchyard/domain/deployment'
import type { DeploymentInProject } from '../deployments/store.js'
import { projectsWithReadableDeployments } from '../environments/store.js'

/** Returns the ids of the projects whose deployments a caller may read; null: all projects. */
async function listReadableProjects({ prisma }: DatabaseOrTransaction, caller: Caller) {
  const where = projectsWithReadableDeployments(caller)
  if (Object.keys(where).length === 0) return null
  return (await prisma.project.findMany({ where, select: { id: true } })).map(({ id }) => id)
}

interface DeploymentKey {
  projectId: number
  id: number
}

export interface DeployedService {
  name: string
  /** The newest deployment that ships the service. */
  lastDeployment: DeploymentInProject
}

/**
 * Returns one page, by name, of the services that deployments readable by the caller ship.
 *
 * @param search part of the name; case does not matter
 */
export async function listServices(
  database: Database,
  caller: Caller,
  search: string,
  { skip, take }: Rows,
): Promise<{ services: DeployedService[]; total: number }> {
  const projectIds = await listReadableProjects(database, caller)
  const { rows } = await database.pool.query<{ total: number; keys: (DeploymentKey & { name: string })[] }>({
    name: 'deployed-services',
    text: `WITH newest AS (
        SELECT DISTINCT ON (name) name, d.project_id, d.id FROM deployments d, jsonb_array_elements_text(d.services) AS name
        WHERE d.services <> '[]' AND ($1::int[] IS NULL OR d.project_id = ANY ($1)) AND name ILIKE $2
        ORDER BY name, d.created_at DESC, d.project_id, d.id DESC)
      SELECT (SELECT count(*)::int FROM newest) AS total,
        COALESCE((SELECT json_agg(json_build_object('name', name, 'projectId', project_id, 'id', id) ORDER BY name)
          FROM (SELECT * FROM newest ORDER BY name OFFSET $3 LIMIT $4) page), '[]') AS keys`,
    values: [projectIds, `%${likeText(search)}%`, skip, take],
  })
  const { total = 0, keys = [] } = rows[0] ?? {}
  const deployments = await listByKey(database, keys)
  return {
    total,
    services: keys.flatMap(({ name }, index) => {
      const lastDeployment = deployments[index]
      return lastDeployment ? [{ name, lastDeployment }] : []
    }),
  }
}

/** Number of newest deployments of a service that are shown. */
const deploymentsMax = 20
/** Most environments of a service that are shown. */
const environmentsMax = 100

/**
 * Lists, among the deployments that the caller may read, the newest ones that ship a service and those that
 * run: for each environment that is not stopped, the last successful deployment that ships the service.
 */
export async function listDeploymentsOfService(
  database: Database,
  caller: Caller,
  name: string,
): Promise<{ running: DeploymentInProject[]; newest: DeploymentInProject[] }> {
  const projectIds = await listReadableProjects(database, caller)
  const ofService = `d.services <> '[]' AND d.services ? $1 AND ($2::int[] IS NULL OR d.project_id = ANY ($2))`
  const [running, newest] = await Promise.all([
    database.pool.query<DeploymentKey>({
      name: 'deployments-that-run-a-service',
      text: `SELECT "projectId", id FROM (
          SELECT DISTINCT ON (d.project_id, d.environment_id) d.project_id AS "projectId", d.id, d.finished_at, e.tier
          FROM deployments d
          JOIN environments e ON e.project_id = d.project_id AND e.id = d.environment_id AND e.state = 'available'
          WHERE ${ofService} AND d.status = 'success'
          ORDER BY d.project_id, d.environment_id, d.finished_at DESC, d.id DESC) last
        ORDER BY array_position($3, tier), finished_at DESC, "projectId", id LIMIT ${environmentsMax}`,
      values: [name, projectIds, environmentTiers],
    }),
    database.pool.query<DeploymentKey>({
      name: 'newest-deployments-of-a-service',
      text: `SELECT d.project_id AS "projectId", d.id FROM deployments d WHERE ${ofService}
        ORDER BY d.created_at DESC, d.project_id, d.id DESC LIMIT ${deploymentsMax}`,
      values: [name, projectIds],
    }),
  ])
  const found = await listByKey(database, [...running.rows, ...newest.rows])
  const isFound = (deployment: DeploymentInProject | undefined) => deployment !== undefined
  return {
    running: found.slice(0, running.rows.length).filter(isFound),
    newest: found.slice(running.rows.length).filter(isFound),
  }
}

/**
 * Returns the deployments of the keys, in their order; undefined for a deployment that was deleted meanwhile.
 */
async function listByKey(
  { prisma }: DatabaseOrTransaction,
  keys: readonly DeploymentKey[],
): Promise<(DeploymentInProject | undefined)[]> {
  if (keys.length === 0) return []
  const found = await prisma.deployment.findMany({
    where: { OR: keys.map(({ projectId, id }) => ({ projectId, id })) },
    include: { environment: true, user: true, project: true },
  })
  return keys.map((key) => found.find(({ projectId, id }) => projectId === key.projectId && id === key.id))
}
