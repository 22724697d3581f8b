import type { openDocumentedApi } from '@switchyard/testing'

type DocumentedApi = Awaited<ReturnType<typeof openDocumentedApi>>

const idOf = (answer: { body: unknown }) => (answer.body as { id: number }).id

/** Every call about environments, freeze periods and deployments of a project. */
export async function callDeployments(api: DocumentedApi, path: { id: number }) {
  const environments = '/projects/{id}/environments'
  const stopped = await api.call(`POST ${environments}`, { path, body: { name: 'review/a' } })
  const environment = { ...path, environment_id: idOf(stopped) }
  await api.call(`GET ${environments}`, { path, query: { states: 'available' } })
  await api.call(`GET ${environments}/{environment_id}`, { path: environment })
  await api.call(`PUT ${environments}/{environment_id}`, { path: environment, body: { tier: 'other' } })
  await api.call(`POST ${environments}/{environment_id}/stop`, { path: environment })
  await api.call(`DELETE ${environments}/{environment_id}`, { path: environment })

  const periods = '/projects/{id}/freeze_periods'
  const body = { freeze_start: '0 23 * * 5', freeze_end: '0 8 * * 1' }
  const period = { ...path, freeze_period_id: idOf(await api.call(`POST ${periods}`, { path, body })) }
  await api.call(`GET ${periods}`, { path })
  await api.call(`GET ${periods}/{freeze_period_id}`, { path: period })
  await api.call('GET /freezes')
  await api.call(`PUT ${periods}/{freeze_period_id}`, { path: period, body: { freeze_end: '0 9 * * 1' } })
  await api.call(`DELETE ${periods}/{freeze_period_id}`, { path: period })

  const deployments = '/projects/{id}/deployments'
  const given = { environment: 'production', ref: 'main', sha: 'main', tag: false, status: 'running' }
  const made = await api.call(`POST ${deployments}`, { path, body: { ...given, saga_id: '42' } })
  const deployment = { ...path, deployment_id: idOf(made) }
  await api.call(`PUT ${deployments}/{deployment_id}`, { path: deployment, body: { status: 'failed' } })
  await api.call(`GET ${deployments}`, { path, query: { environment: 'production' } })
  await api.call(`GET ${deployments}/{deployment_id}`, { path: deployment })
  await api.call(`GET ${deployments}/{deployment_id}/commits`, { path: deployment })
  await api.call(`GET ${deployments}/{deployment_id}/merge_requests`, { path: deployment })
  const impact = `${deployments}/{deployment_id}/impact` as const
  await api.call(`GET ${impact}`, { path: deployment })
  await api.call(`POST ${impact}/dismissal`, { path: deployment, body: { reason: 'The bank was down' } })
  await api.call(`DELETE ${impact}/dismissal`, { path: deployment })
  await api.call('GET /deployments')
  await api.call('GET /deployment_impacts', { query: { fingerprint: 'f1' } })
  await api.call(`DELETE ${deployments}/{deployment_id}`, { path: deployment })
}
