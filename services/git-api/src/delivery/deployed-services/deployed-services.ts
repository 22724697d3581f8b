import type { Database } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import { boundTenantsOf, type Caller } from '@switchyard/domain/access'
import type { DeploymentInProject } from '../deployments/store.js'
import { type FindingView, listFindings } from '../impacts/store.js'
import { listDeploymentsOfService } from './store.js'

export { listServices } from './store.js'

export interface ServiceView {
  name: string
  running: DeploymentInProject[]
  newest: DeploymentInProject[]
  findings: FindingView[]
}

const findingsMax = 20

/**
 * Returns where a service runs, its newest deployments and their findings, as far as the caller may read
 * them.
 *
 * @throws DomainError not-found when no deployment that the caller may read ships the service
 */
export async function getService(database: Database, caller: Caller, name: string): Promise<ServiceView> {
  const { running, newest } = await listDeploymentsOfService(database, caller, name)
  if (newest.length === 0) throw notFound('Service')
  const tenants = boundTenantsOf(caller)
  const filter = { serviceName: name, ...(tenants && { tenants: [...tenants] }) }
  const { findings } = await listFindings(database, caller, filter, { skip: 0, take: findingsMax })
  return { name, running, newest, findings }
}
