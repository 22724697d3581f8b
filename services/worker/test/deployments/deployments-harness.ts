import { createDatabase } from '@switchyard/db'
import { createProject, createUser } from '@switchyard/testing'
import { listDue } from '../../src/deployments/impact-store.js'
import { startHarness } from '../harness.js'

export const minute = 60_000
export const settings = { tiers: ['production'], windowMinutes: 60, sagasMin: 20, stuckAfterMs: 15 * minute }
export const now = new Date()
export const ago = (minutes: number) => new Date(now.getTime() - minutes * minute)

interface Told {
  /** Unset: the project of the harness. */
  projectId?: number
  tier?: string
  status?: string
  services?: string[]
}

/** Starts the database of tests about the deployments of a project. */
export async function startDeploymentsHarness() {
  const harness = await startHarness()
  const { database, redis } = harness
  const url = harness.environment.DATABASE_URL
  const ownDatabase = createDatabase({ url, poolSizeMax: 2, applicationName: 'test' })
  const user = await createUser(database)
  const { id: ownProjectId } = await createProject(database, user)

  return {
    ...harness,
    /** A connection with the rights of the worker. */
    ownDatabase,
    projectId: ownProjectId,
    /** Creates another project, and returns its id. */
    otherProject: async () => (await createProject(database, user)).id,
    /** Deletes all deployments, and all data of comparisons. */
    async clear() {
      await database.pool.query(
        'TRUNCATE deployments, impact_rules, broadcast_messages, audit_events, sagas, saga_errors, saga_flags CASCADE',
      )
      await redis.flushall()
    },
    /** Adds a deployment that ended that many minutes ago and took two minutes. */
    async deployed(
      minutes: number,
      {
        projectId = ownProjectId,
        tier = 'production',
        status = 'success',
        services = ['billing'],
      }: Told = {},
    ) {
      const { prisma } = database
      const environment = { projectId, name: tier, slug: tier, tier }
      const { id: environmentId } = await prisma.environment.upsert({
        where: { projectId_name: { projectId, name: tier } },
        create: environment,
        update: {},
      })
      const progress = { status, createdAt: ago(minutes + 2), finishedAt: ago(minutes), frozen: false }
      const iid = 1 + (await prisma.deployment.count())
      const of = { projectId, environmentId, iid, ref: 'main', tag: false, sha: 'a'.repeat(40) }
      return prisma.deployment.create({ data: { ...of, ...progress, services } })
    },
    due: (at = now) =>
      listDue(database, {
        tiers: settings.tiers,
        finishedAfter: ago(1500),
        finishedBefore: new Date(at.getTime() - 2 * minute),
        now: at,
        postponed: [],
        rowsMax: 10,
      }),
    async close() {
      await ownDatabase.close()
      await harness.close()
    },
  }
}
