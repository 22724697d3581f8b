import type { Database } from '@switchyard/db'
import type { openDocumentedApi } from '@switchyard/testing'

type DocumentedApi = Awaited<ReturnType<typeof openDocumentedApi>>

const idOf = (answer: { body: unknown }) => (answer.body as { id: number }).id

/** Calls every operation of environments, freeze periods and deployments of a project. */
export async function callDeployments(api: DocumentedApi, database: Database, path: { id: number }) {
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
  const made = await api.call(`POST ${deployments}`, {
    path,
    body: { ...given, saga_id: '42', services: ['billing'] },
  })
  const deployment = { ...path, deployment_id: idOf(made) }
  await api.call(`PUT ${deployments}/{deployment_id}`, { path: deployment, body: { status: 'failed' } })
  await api.call(`GET ${deployments}`, { path, query: { environment: 'production' } })
  await api.call(`GET ${deployments}/{deployment_id}`, { path: deployment })
  await api.call(`GET ${deployments}/{deployment_id}/commits`, { path: deployment })
  await api.call(`GET ${deployments}/{deployment_id}/merge_requests`, { path: deployment })
  const impact = `${deployments}/{deployment_id}/impact` as const
  await api.call(`GET ${impact}`, { path: deployment })
  const key = { projectId: path.id, deploymentId: deployment.deployment_id }
  const figures = { after: 0.25, samplesBefore: 120, samplesAfter: 120, pValue: 1e-6 }
  const times = { changePointAt: new Date(), foundAt: new Date() }
  const about = { tenant: 'default', serviceName: 'billing', measure: 'failures' }
  await database.prisma.deploymentFinding.create({ data: { ...key, ...about, ...figures, ...times } })
  await api.call(`POST ${impact}/dismissal`, { path: deployment, body: { reason: 'The bank was down' } })
  await api.call(`DELETE ${impact}/dismissal`, { path: deployment })
  const failure = `${deployments}/{deployment_id}/change_failure` as const
  await api.call(`POST ${failure}`, { path: deployment, body: { reason: 'Invoices were empty' } })
  await api.call(`GET ${failure}`, { path: deployment })
  await api.call(`DELETE ${failure}`, { path: deployment })
  await api.call('GET /projects/{id}/dora/metrics', { path, query: { metric: 'change_failure_rate' } })
  await api.call('GET /projects/{id}/dora/badge', { path, query: { metric: 'change_failure_rate' } })
  await api.call('GET /delivery_metrics')
  await api.call('GET /deployments')
  await api.call('GET /deployment_impacts', { query: { fingerprint: 'f1' } })
  await callRules(api, database, deployment)
  await api.call('GET /services', { query: { search: 'bill' } })
  await api.call('GET /services/{name}', { path: { name: 'billing' } })
  await api.call(`DELETE ${deployments}/{deployment_id}`, { path: deployment })
}

async function callRules(
  api: DocumentedApi,
  { prisma }: Database,
  { id, deployment_id: deploymentId }: { id: number; deployment_id: number },
) {
  const rules = '/projects/{id}/impact_rules'
  const path = { id }
  const made = await api.call(`POST ${rules}`, { path, body: { name: 'Stop', freeze: true } })
  const rule = { ...path, rule_id: idOf(made) }
  await api.call(`GET ${rules}`, { path })
  await api.call(`GET ${rules}/{rule_id}`, { path: rule })
  await api.call(`PUT ${rules}/{rule_id}`, { path: rule, body: { ratio_min: 3 } })
  const key = { projectId: id, id: deploymentId }
  const { environmentId } = await prisma.deployment.findUniqueOrThrow({ where: { projectId_id: key } })
  const about = { projectId: id, ruleId: rule.rule_id, deploymentId, environmentId }
  const did = { dryRun: false, freezes: true, notifiesWebhooks: false, findings: [], appliedAt: new Date() }
  const { id: runId } = await prisma.impactRuleRun.create({ data: { ...about, ...did } })
  await api.call(`GET ${rules}/{rule_id}/runs`, { path: rule })
  await api.call(`POST ${rules}/{rule_id}/runs/{run_id}/revert`, { path: { ...rule, run_id: runId } })
  await api.call(`DELETE ${rules}/{rule_id}`, { path: rule })
}
