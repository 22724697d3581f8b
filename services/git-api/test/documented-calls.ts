import type { openDocumentedApi } from '@switchyard/testing'
import { expect } from 'vitest'

type DocumentedApi = Awaited<ReturnType<typeof openDocumentedApi>>

/** Lists of what only GitLab has. */
export async function callAbsentFeatures(api: DocumentedApi, path: { id: number }) {
  for (const list of ['issues', 'merge_requests', 'labels', 'milestones', 'variables', 'deploy_keys']) {
    await api.call(`GET /projects/{id}/${list}`, { path })
  }
  for (const read of ['events', 'languages', 'users']) await api.call(`GET /projects/{id}/${read}`, { path })
  await api.call('GET /groups', { token: null })
  await api.call('GET /groups/{id}/projects', { path: { id: 'ada' } })
  await api.call('GET /groups/{id}', { path: { id: 'ada' } })
  await api.call('GET /merge_requests')
  await api.call('GET /issues')
}

export async function callPipelines(api: DocumentedApi, path: { id: number }) {
  const pipelines = '/projects/{id}/pipelines'
  const [listed] = (await api.call(`GET ${pipelines}`, { path, query: { scope: 'running' }, token: null }))
    .body as { id: number }[]
  const one = { ...path, pipeline_id: listed?.id ?? 0 }
  await api.call(`GET ${pipelines}/latest`, { path, query: { ref: 'work' } })
  await api.call(`GET ${pipelines}/{pipeline_id}`, { path: one })
  await api.call(`GET ${pipelines}/{pipeline_id}/test_report`, { path: one })
  await api.call(`GET ${pipelines}/{pipeline_id}/test_report_summary`, { path: one })
  await api.call(`GET ${pipelines}/{pipeline_id}/jobs`, { path: one })
  const [job] = (await api.call('GET /projects/{id}/jobs', { path })).body as { id: number }[]
  const ofJob = { path: { ...path, job_id: job?.id ?? 0 } }
  await api.call('GET /projects/{id}/jobs/{job_id}', ofJob)
  await api.call('GET /projects/{id}/jobs/{job_id}/trace', ofJob)
  await api.call(`GET ${pipelines}/{pipeline_id}/bridges`, { path: one })
  await api.call(`GET ${pipelines}/{pipeline_id}/variables`, { path: one })
  const refused = [
    await api.call('POST /projects/{id}/pipeline', { path }),
    await api.call(`POST ${pipelines}/{pipeline_id}/cancel`, { path: one }),
    await api.call(`DELETE ${pipelines}/{pipeline_id}`, { path: one }),
  ]
  expect(refused.map(({ status }) => status)).toEqual([405, 405, 405])
  const listener = { url: 'https://ci.example.com/retry', pipeline_events: true }
  const hook = (await api.call('POST /projects/{id}/hooks', { path, body: listener })).body as { id: number }
  await api.call(`POST ${pipelines}/{pipeline_id}/retry`, { path: one })
  await api.call('DELETE /projects/{id}/hooks/{hook_id}', { path: { ...path, hook_id: hook.id } })
}

/** Operations of GitLab that are always refused here. */
export const refusedAlways = [
  'POST /groups',
  'POST /projects/{id}/merge_requests',
  'POST /projects/{id}/issues',
  'POST /merge_requests',
  'POST /issues',
  'POST /projects/{id}/labels',
  'POST /projects/{id}/milestones',
  'POST /projects/{id}/deploy_keys',
  'GET /groups/{id}',
  'POST /projects/{id}/variables',
  'POST /projects/{id}/pipeline',
  'POST /projects/{id}/pipelines/{pipeline_id}/cancel',
  'DELETE /projects/{id}/pipelines/{pipeline_id}',
]
