import { waitFor } from '@switchyard/testing'
import { apiOf } from '../support/api.js'
import type { Tree } from '../support/tree.js'

/**
 * Makes two deployments of a project to production: the first one fails, and the second one ships a commit
 * that restores it.
 */
export async function deploy(tree: Tree): Promise<void> {
  const api = apiOf(tree.url, tree.rootToken)
  const project = '/projects/root%2Fdelivered'
  const commit = async (content: string) => {
    const actions = [{ action: 'upsert', file_path: 'shop.txt', content }]
    const body = { branch: 'main', commit_message: `Sell ${content}`, actions }
    return (await api<{ id: string }>('POST', `${project}/repository/commits`, body)).id
  }
  const deployment = async (sha: string) => {
    const body = { environment: 'production', sha, ref: 'main', tag: false, status: 'success' }
    return (await api<{ id: number }>('POST', `${project}/deployments`, body)).id
  }
  await api('POST', '/projects', { name: 'delivered', initialize_with_readme: true })
  const first = await deployment(await commit('apples'))
  await api('POST', `${project}/deployments/${first}/change_failure`, { reason: 'Nobody could buy' })
  await deployment(await commit('pears'))
  const metrics = [
    'deployment_frequency',
    'lead_time_for_changes',
    'change_failure_rate',
    'time_to_restore_service',
  ]
  const isMeasured = async (metric: string) => {
    const points = await api<{ value: number | null }[]>(
      'GET',
      `${project}/dora/metrics?metric=${metric}&interval=all`,
    )
    return points.some(({ value }) => value !== null)
  }
  for (const metric of metrics) await waitFor(() => isMeasured(metric), { what: `the figure ${metric}` })
}
