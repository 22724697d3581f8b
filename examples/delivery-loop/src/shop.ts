import type { Api } from './api.js'

const name = 'example-delivery-loop'

/** What the story is about. All of its names begin with `example`. */
export interface Shop {
  /** As part of an address of the API. */
  project: string
  path: string
  /** The service that the second deployment breaks. */
  checkout: string
  /** The service that stays as it is. */
  mail: string
  /** The error of sagas that fail. */
  problem: string
  /** Commits, the first and the second one. */
  commits: [string, string]
  ruleId: number
}

interface Project {
  id: number
  path_with_namespace: string
}

/** The project of an earlier run; null: there is none. */
export async function findProject(api: Api): Promise<Project | null> {
  const { username } = await api.get<{ username: string }>('/user')
  return api.find<Project>(`/projects/${encodeURIComponent(`${username}/${name}`)}`)
}

/** A project with two commits, and a rule that only notes what it would do. */
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
  // A service of an earlier run would have that one's failures in the hour before the deployment.
  const [checkout, mail] = [`example-checkout-${id}`, `example-mail-${id}`]
  const problem = `example: the payment provider knows no charge in one call from shop ${lettersOf(id)}`
  return { project, path, checkout, mail, problem, commits, ruleId: rule.id }
}

/** Failures are the same whatever numbers they name, and one of an earlier run would not be new. */
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

/** Notes a deployment as CI does: that it runs, and how it ends. */
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
  /** Null: not compared yet. */
  after: unknown
  services: { service_name: string; findings: Finding[] }[]
  rule_runs: {
    rule: { name: string }
    dry_run: boolean
    environment: string
    freeze: boolean
    /** Null: it shows none. */
    banner_message: string | null
    webhook: boolean
  }[]
}

/** What became worse with a deployment. */
export const readImpact = (api: Api, { project }: Shop, { id }: Deployment): Promise<Impact> =>
  api.get(`${project}/deployments/${id}/impact`)
