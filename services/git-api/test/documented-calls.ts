import type { openDocumentedApi } from '@switchyard/testing'
import { expect } from 'vitest'

type DocumentedApi = Awaited<ReturnType<typeof openDocumentedApi>>

/** Calls the lists of features that only GitLab has. */
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
  await api.call('GET /events')
}

export async function callDiscussions(api: DocumentedApi, path: { id: number; sha: string }) {
  const discussions = '/projects/{id}/repository/commits/{sha}/discussions'
  const position = { new_path: 'a.txt', new_line: 1 }
  const begun = (await api.call(`POST ${discussions}`, { path, body: { body: 'Why?', position } })).body
  const discussion = { ...path, discussion_id: (begun as { id: string }).id }
  const notes = `${discussions}/{discussion_id}/notes`
  const added = await api.call(`POST ${notes}`, { path: discussion, body: { body: 'Because' } })
  await api.call(`GET ${notes}`, { path: discussion })
  const note = { ...discussion, note_id: (added.body as { id: number }).id }
  await api.call(`GET ${notes}/{note_id}`, { path: note })
  await api.call(`PUT ${notes}/{note_id}`, { path: note, body: { body: 'Therefore' } })
  await api.call(`DELETE ${notes}/{note_id}`, { path: note })
}

export async function callSearch(api: DocumentedApi, path: { id: number }) {
  await api.call('GET /search', { query: { scope: 'projects', search: 'engine' } })
  for (const scope of ['blobs', 'commits', 'issues'])
    await api.call('GET /projects/{id}/search', { path, query: { scope, search: 'e' } })
}

export async function callChangelog(api: DocumentedApi, path: { id: number }) {
  const changelog = '/projects/{id}/repository/changelog'
  await api.call(`GET ${changelog}`, { path, query: { version: '1.0.0', date: '2026-01-01' } })
  await api.call(`GET ${changelog}`, { path, query: { version: '1.0.0', from: 'nowhere' } })
  await api.call(`POST ${changelog}`, { path, body: { version: '1.0.0' } })
  await api.call(`POST ${changelog}`, { path, body: { version: '1.0.0' } })
}

export async function callSubmodules(api: DocumentedApi, { id }: { id: number }, submodule: string) {
  const move = 'PUT /projects/{id}/repository/submodules/{submodule}'
  const body = { branch: 'main', commit_sha: '2'.repeat(40) }
  await api.call(move, { path: { id, submodule }, body })
  await api.call(move, { path: { id, submodule: 'no-such-submodule' }, body })
}

export async function callProtectOneBranch(api: DocumentedApi, path: { id: number }) {
  const branch = { ...path, branch: 'main' }
  const protect = 'PUT /projects/{id}/repository/branches/{branch}/protect'
  await api.call(protect, { path: branch, body: { developers_can_push: true } })
  await api.call('PUT /projects/{id}/repository/branches/{branch}/unprotect', { path: branch })
  const body = { before: '2026-01-01' }
  await api.call('POST /projects/{id}/environments/stop_stale', { path, body })
}

export async function callProtectedEnvironments(api: DocumentedApi, path: { id: number }) {
  const environments = '/projects/{id}/protected_environments'
  const given = { name: 'guarded', deploy_access_levels: [{ access_level: 60 }], required_approval_count: 1 }
  await api.call(`POST ${environments}`, { path, body: given })
  await api.call(`GET ${environments}`, { path })
  const one = { ...path, name: 'guarded' }
  await api.call(`GET ${environments}/{name}`, { path: one })
  await api.call(`PUT ${environments}/{name}`, { path: one, body: { required_approval_count: 2 } })
  const fields = { environment: 'guarded', sha: 'main', ref: 'main', tag: false, status: 'blocked' }
  const waiting = (await api.call('POST /projects/{id}/deployments', { path, body: fields })).body
  const deployment = { ...path, deployment_id: (waiting as { id: number }).id }
  const body = { status: 'rejected' }
  await api.call('POST /projects/{id}/deployments/{deployment_id}/approval', { path: deployment, body })
  await api.call(`DELETE ${environments}/{name}`, { path: one })
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

/** Operations of GitLab that are always refused. */
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
