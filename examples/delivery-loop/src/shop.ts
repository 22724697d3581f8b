import type { Api } from './api.js'

const name = 'example-delivery-loop'

/** The project and services of the example. All names begin with `example`. */
export interface Shop {
  /** The project as part of an address of the API. */
  project: string
  path: string
  /** The service that the second deployment breaks. */
  checkout: string
  /** The service that does not change. */
  mail: string
  /** The error of sagas that fail. */
  problem: string
  /** The first and the second commit. */
  commits: [string, string]
  ruleId: number
}

interface Project {
  id: number
  path_with_namespace: string
}

/** Finds the project of an earlier run; null: there is none. */
export async function findProject(api: Api): Promise<Project | null> {
  const { username } = await api.get<{ username: string }>('/user')
  return api.find<Project>(`/projects/${encodeURIComponent(`${username}/${name}`)}`)
}

/** Creates a project with two commits, and a rule that only records what it would do. */
export async function openShop(api: Api): Promise<Shop> {
  const { id, path_with_namespace: path } = await api.send<Project>('POST', '/projects', {
    name,
    description: 'Example data: examples/delivery-loop made it, and removes it again',
  })
  const project = `/projects/${id}`
  const commits: [string, string] = [
    await commit(api, project, 'create', 'Begin the shop', "export const currency = 'EUR'\n"),
    await commit(api, project, 'update', 'Charge cards in one call', 'export const chargeInOneCall = true\n'),
  ]
  const rule = await api.send<{ id: number }>('POST', `${project}/impact_rules`, {
    name: 'Stop the line',
    measures: ['failures', 'new_failure'],
    freeze: true,
    banner_message:
      '**{{environment}}** is frozen: {{services}} became worse. [Deployment {{deployment}}]({{url}})',
  })
  // A service of an earlier run would have failures of that run in the hour before the deployment.
  const [checkout, mail] = [`example-checkout-${id}`, `example-mail-${id}`]
  const problem = `example: the payment provider knows no charge in one call from shop ${lettersOf(id)}`
  return { project, path, checkout, mail, problem, commits, ruleId: rule.id }
}

/**
 * Returns an id in letters. Errors that differ only in numbers are the same failure, so the failure of an
 * earlier run would not be new.
 */
const lettersOf = (id: number) => String(id).replace(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)))

async function commit(api: Api, project: string, action: string, message: string, content: string) {
  const { id } = await api.send<{ id: string }>('POST', `${project}/repository/commits`, {
    branch: 'main',
    commit_message: message,
    actions: [{ action, file_path: 'src/payment.ts', content }],
  })
  return id
}

export interface Deployment {
  id: number
  iid: number
}

/** Reports a deployment as CI does: its start and its end. */
export async function deploy(
  api: Api,
  { project }: Shop,
  { sha, service, during }: { sha: string; service: string; during: () => Promise<unknown> },
): Promise<Deployment> {
  const deployments = `${project}/deployments`
  const about = { environment: 'production', sha, ref: 'main', tag: false, services: [service] }
  const deployment = await api.send<Deployment>('POST', deployments, { ...about, status: 'running' })
  await during()
  return api.send<Deployment>('PUT', `${deployments}/${deployment.id}`, { status: 'success' })
}

interface Finding {
  measure: string
  confidence: number
}

export interface Impact {
  state: 'pending' | 'found' | 'none' | 'dismissed' | 'not_compared'
  /** Null: the deployment is not compared yet. */
  after: unknown
  services: { service_name: string; findings: Finding[] }[]
  rule_runs: {
    rule: { name: string }
    dry_run: boolean
    environment: string
    freeze: boolean
    /** Null: there is no banner. */
    banner_message: string | null
    webhook: boolean
  }[]
}

/** Reads what became worse with a deployment. */
export const readImpact = (api: Api, { project }: Shop, { id }: Deployment): Promise<Impact> =>
  api.get(`${project}/deployments/${id}/impact`)
