import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createToken, type JobIssuer, openDocumentedApi, startJobIssuer } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { callDeployTokens, callTrustedIssuers } from './access/documented-tokens.js'
import { callSession, callSignIn } from './access/openapi-sign-in.js'
import { type SignIn, startSignIn } from './access/sign-in-harness.js'
import { callDeployments } from './delivery/openapi-deployments.js'
import {
  callAbsentFeatures,
  callChangelog,
  callDiscussions,
  callPipelines,
  callProtectedEnvironments,
  callProtectOneBranch,
  callSearch,
  callSubmodules,
  refusedAlways,
} from './documented-calls.js'
import type { Harness } from './harness.js'
import { callPackages, callUploads } from './publishing/documented-files.js'
import { addSubmodule, signCommit, signTag } from './repository/signed-objects.js'

/** The second storage has no server: moves are requested, but not carried out. */
const twoStorages = {
  SWITCHYARD_STORAGES: 'default=http://127.0.0.1:2, second=http://127.0.0.1:1',
  SWITCHYARD_STORAGES_SECRET: 'secret-of-the-storages-of-the-tests-0123456789',
}

const webhooks = {
  WEBHOOK_ALLOWED_HOSTS: 'hooks.example.com,127.0.0.1',
  WEBHOOK_SECRET_KEYS: randomBytes(32).toString('base64'),
}

let signIn: SignIn
let harness: Harness
let issuer: JobIssuer
let api: Awaited<ReturnType<typeof openDocumentedApi>>

beforeAll(async () => {
  issuer = await startJobIssuer()
  signIn = await startSignIn({
    ...webhooks,
    ...twoStorages,
    USER_TOKEN_LIFETIME_DAYS_MAX: '30',
    DEVICE_TOKEN_LIFETIME_DAYS: '30',
    TRUSTED_ISSUER_HOSTS: issuer.url,
  })
  harness = signIn.harness
  api = await openDocumentedApi(harness.baseUrl, harness.tokens.admin)
})
afterAll(async () => {
  await signIn?.close()
  await issuer?.close()
})

const idOf = (answer: { body: unknown }) => (answer.body as { id: number }).id

async function callUsersAndTokens() {
  await api.call('GET /version')
  await api.call('GET /metadata')
  await api.call('GET /system')
  await api.call('GET /user')
  const body = { email: 'ada@example.com', username: 'ada', name: 'Ada' }
  const user = idOf(await api.call('POST /users', { body }))
  await api.call('GET /users')
  await api.call('GET /users/{id}', { path: { id: user } })
  await api.call('GET /users/{id}', { path: { id: user }, token: harness.tokens.user })
  await api.call('PUT /users/{id}', { path: { id: user }, body: { name: 'Ada L.' } })
  await api.call('POST /users/{id}/block', { path: { id: user } })
  await api.call('POST /users/{id}/unblock', { path: { id: user } })
  const left = { email: 'left@example.com', username: 'left', name: 'Left' }
  const leaving = idOf(await api.call('POST /users', { body: left }))
  await api.call('DELETE /users/{id}', { path: { id: leaving }, query: { hard_delete: 'true' } })
  const issued = await api.call('POST /users/{id}/personal_access_tokens', {
    path: { id: user },
    body: { name: 'ci', scopes: ['api'], expires_at: '2999-12-31' },
  })
  let { token } = issued.body as { token: string }
  await api.call('GET /personal_access_tokens/self', { token })
  const rotated = await api.call('POST /personal_access_tokens/self/rotate', { token })
  token = (rotated.body as { token: string }).token
  await api.call('DELETE /personal_access_tokens/self', { token })
  const listed = await api.call('GET /personal_access_tokens', { query: { state: 'active' } })
  expect(listed.body).not.toHaveLength(0)
  const path = { id: (await createToken(harness.database, harness.users.user)).token.id }
  await api.call('GET /personal_access_tokens/{id}', { path })
  const replaced = idOf(await api.call('POST /personal_access_tokens/{id}/rotate', { path }))
  await api.call('DELETE /personal_access_tokens/{id}', { path: { id: replaced } })
  await api.call('POST /projects/user/{user_id}', { path: { user_id: user }, body: { path: 'given' } })
  await api.call('GET /users/{id}/projects', { path: { id: 'ada' }, query: { order_by: 'similarity' } })
  const given = { name: 'Failed bookings', page: 'sagas', query: 'status=Error' }
  const view = { id: idOf(await api.call('POST /saved_views', { body: given })) }
  await api.call('GET /saved_views', { query: { page: 'sagas' } })
  await api.call('GET /saved_views/{id}', { path: view })
  await api.call('PUT /saved_views/{id}', { path: view, body: { query: 'status=Ended' } })
  await api.call('DELETE /saved_views/{id}', { path: view })
  return user
}

async function callProject(path: { id: number }, user: number) {
  await api.call('GET /projects')
  await api.call('GET /project_states')
  await api.call('GET /projects', { query: { simple: 'true', min_access_level: '10' } })
  await api.call('POST /projects/{id}/archive', { path })
  await api.call('POST /projects/{id}/unarchive', { path })
  await api.call('GET /namespaces')
  await api.call('GET /namespaces/{id}', { path: { id: user } })
  await api.call('GET /namespaces/{path}/exists', { path: { path: 'ada' } })
  await api.call('GET /projects/{id}', { path, token: null })
  await api.call('GET /projects/{id}', { path, query: { statistics: 'true' } })
  await api.call('POST /projects/{id}/members', { path, body: { user_id: user, access_level: 30 } })
  await api.call('GET /projects/{id}/members', { path, query: { query: 'a' } })
  const member = { ...path, user_id: user }
  await api.call('PUT /projects/{id}/members/{user_id}', { path: member, body: { access_level: 20 } })
  await api.call('PUT /projects/{id}', { path, body: { description: 'Documented' } })
  const asked = { path, body: { destination_storage_name: 'second' } }
  const move = idOf(await api.call('POST /projects/{id}/repository_storage_moves', asked))
  await api.call('GET /projects/{id}/repository_storage_moves', { path })
  const moved = { path: { ...path, repository_storage_id: move } }
  await api.call('GET /projects/{id}/repository_storage_moves/{repository_storage_id}', moved)
  await callAbsentFeatures(api, path)
  await api.call('GET /projects/{id}/members/all', { path })
  await api.call('GET /projects/{id}/members/{user_id}', { path: member })
  await api.call('GET /projects/{id}/members/all/{user_id}', { path: member })
  await api.call('DELETE /projects/{id}/members/{user_id}', { path: { ...path, user_id: user } })

  const branch = { ...path, name: 'release/*' }
  await api.call('POST /projects/{id}/protected_branches', { path, body: { name: branch.name } })
  await api.call('GET /projects/{id}/protected_branches', { path })
  await api.call('GET /projects/{id}/protected_branches/{name}', { path: branch })
  await api.call('PATCH /projects/{id}/protected_branches/{name}', { path: branch, body: {} })
  await api.call('DELETE /projects/{id}/protected_branches/{name}', { path: branch })

  const given = { name: 'ci', scopes: ['api'], access_level: 30 }
  const token = {
    ...path,
    token_id: idOf(await api.call('POST /projects/{id}/access_tokens', { path, body: given })),
  }
  await api.call('GET /projects/{id}/access_tokens', { path })
  await api.call('GET /projects/{id}/access_tokens/{token_id}', { path: token })
  const rotated = await api.call('POST /projects/{id}/access_tokens/{token_id}/rotate', { path: token })
  const own = { path, token: (rotated.body as { token: string }).token }
  const itself = await api.call('POST /projects/{id}/access_tokens/self/rotate', own)
  const last = { ...path, token_id: idOf(itself) }
  await api.call('DELETE /projects/{id}/access_tokens/{token_id}', { path: last })
}

async function callReferences(path: { id: number }) {
  const branches = '/projects/{id}/repository/branches'
  const branch = { ...path, branch: 'documented/one' }
  await api.call(`POST ${branches}`, { path, body: { branch: branch.branch, ref: 'main' } })
  await api.call(`GET ${branches}`, { path, query: { search: '^doc', sort: 'updated_desc' } })
  await api.call(`GET ${branches}/{branch}`, { path: branch })
  await api.call(`DELETE ${branches}/{branch}`, { path: branch })
  await api.call('DELETE /projects/{id}/repository/merged_branches', { path })

  const tags = '/projects/{id}/repository/tags'
  const tag = { ...path, tag_name: 'documented/1' }
  const body = { tag_name: tag.tag_name, ref: 'main', message: 'First' }
  await api.call(`POST ${tags}`, { path, body })
  await api.call(`GET ${tags}`, { path, query: { order_by: 'version' } })
  await api.call(`GET ${tags}/{tag_name}`, { path: tag })
  await api.call(`GET ${tags}/{tag_name}/signature`, {
    path: { ...path, tag_name: await signTag(await repositoryPath(path.id)) },
  })
  await api.call(`GET ${tags}/{tag_name}/signature`, { path: tag })
  await api.call(`DELETE ${tags}/{tag_name}`, { path: tag })
}

async function callReleases(path: { id: number }) {
  const tag = { ...path, name: 'v*' }
  await api.call('POST /projects/{id}/protected_tags', { path, body: { name: tag.name } })
  await api.call('GET /projects/{id}/protected_tags', { path })
  await api.call('GET /projects/{id}/protected_tags/{name}', { path: tag })
  await api.call('DELETE /projects/{id}/protected_tags/{name}', { path: tag })

  const releases = '/projects/{id}/releases'
  const one = { ...path, tag_name: 'v1.0.0' }
  const linked = { name: 'app', url: 'https://example.com/app.zip', direct_asset_path: '/app.zip' }
  const body = { tag_name: one.tag_name, ref: 'main', description: 'First', assets: { links: [linked] } }
  await api.call(`POST ${releases}`, { path, body })
  await api.call(`GET ${releases}`, { path, token: null })
  await api.call(`GET ${releases}/{tag_name}`, { path: one })
  await api.call(`PUT ${releases}/{tag_name}`, { path: one, body: { name: 'One' } })
  await api.call(`GET ${releases}/permalink/latest`, { path })
  await api.call(`GET ${releases}/permalink/latest/{rest}`, { path: { ...path, rest: 'assets' } })
  await api.call(`GET ${releases}/{tag_name}/downloads/{file_path}`, {
    path: { ...one, file_path: 'app.zip' },
  })
  const links = `${releases}/{tag_name}/assets/links`
  const further = { name: 'manual', url: 'https://example.com/manual' }
  const link = { ...one, link_id: idOf(await api.call(`POST ${links}`, { path: one, body: further })) }
  await api.call(`POST ${links}`, { path: one, body: further })
  await api.call(`GET ${links}`, { path: one })
  await api.call(`GET ${links}/{link_id}`, { path: link })
  await api.call(`PUT ${links}/{link_id}`, { path: link, body: { link_type: 'runbook' } })
  await api.call(`DELETE ${links}/{link_id}`, { path: link })
  await api.call(`DELETE ${releases}/{tag_name}`, { path: one })
}

async function repositoryPath(projectId: number): Promise<string> {
  const project = await harness.database.prisma.project.findUniqueOrThrow({ where: { id: projectId } })
  return join(harness.storageRoot, project.diskPath)
}

async function callComparisons(path: { id: number }) {
  const repository = '/projects/{id}/repository'
  await api.call(`GET ${repository}/compare`, { path, query: { from: 'main', to: 'main' } })
  await api.call(`GET ${repository}/merge_base`, { path, query: { refs: 'main,main' } })
  const commit = { ...path, sha: 'main' }
  await api.call(`GET ${repository}/commits/{sha}/refs`, { path: commit })
  await api.call(`GET ${repository}/commits/{sha}/sequence`, { path: commit })
  await api.call(`GET ${repository}/commits/{sha}/merge_requests`, { path: commit })
  await api.call(`GET ${repository}/commits/{sha}/signature`, { path: commit })
  const signed = { ...path, sha: await signCommit(await repositoryPath(path.id)) }
  await api.call(`GET ${repository}/commits/{sha}/signature`, { path: signed })
  await api.call(`GET ${repository}/contributors`, { path })
  await api.call(`GET ${repository}/archive`, { path, query: { format: 'zip' } })
  await api.call(`GET ${repository}/archive.{format}`, { path: { ...path, format: 'tar.gz' } })
}

async function callFiles(path: { id: number }) {
  const file = '/projects/{id}/repository/files/{file_path}'
  const one = { ...path, file_path: 'docs/one.txt' }
  const change = { branch: 'main', commit_message: 'Document', content: 'one' }
  await api.call(`POST ${file}`, { path: one, body: change })
  await api.call(`PUT ${file}`, { path: one, body: { ...change, content: 'two' } })
  await api.call('GET /projects/{id}/repository/tree', { path, query: { recursive: 'true' } })
  const read = await api.call(`GET ${file}`, { path: one, query: { ref: 'main' } })
  await api.call(`GET ${file}/raw`, { path: one })
  await api.call(`GET ${file}/blame`, { path: one, query: { ref: 'main' } })
  const blob = { ...path, sha: (read.body as { blob_id: string }).blob_id }
  await api.call('GET /projects/{id}/repository/blobs/{sha}', { path: blob })
  await api.call('GET /projects/{id}/repository/blobs/{sha}/raw', { path: blob })
  await api.call(`DELETE ${file}`, { path: one, query: { branch: 'main', commit_message: 'Remove' } })
}

async function callCommits(path: { id: number }) {
  const commits = '/projects/{id}/repository/commits'
  const actions = [{ action: 'create', file_path: 'a.txt', content: 'one\ntwo\n' }]
  const body = { branch: 'work', start_branch: 'main', commit_message: 'Add a\n\nReviewed-by: Ada', actions }
  await api.call(`POST ${commits}`, { path, body: { ...body, dry_run: true } })
  const created = await api.call(`POST ${commits}`, { path, body })
  const commit = { ...path, sha: (created.body as { id: string }).id }
  await api.call(`GET ${commits}`, { path, query: { with_stats: 'true', ref_name: 'work' } })
  await api.call(`GET ${commits}/{sha}`, { path: commit })

  await api.call(`GET ${commits}/{sha}/diff`, { path: commit })
  await api.call(`GET ${commits}/{sha}/diff`, { path: commit, query: { per_page: '1' } })
  await api.call(`GET ${commits}/{sha}/diff`, { path: commit, query: { stat: 'true' } })
  await api.call(`GET ${commits}/{sha}/diff`, { path: commit, query: { path: 'a.txt' } })

  await api.call(`POST ${commits}/{sha}/comments`, { path: commit, body: { note: 'Fine' } })
  const placed = { note: 'Here', path: 'a.txt', line: 2, line_type: 'new' }
  await api.call(`POST ${commits}/{sha}/comments`, { path: commit, body: placed })
  await api.call(`GET ${commits}/{sha}/comments`, { path: commit, token: null })
  const { body: discussions } = await api.call(`GET ${commits}/{sha}/discussions`, { path: commit })
  await callDiscussions(api, commit)
  const discussion = { ...commit, discussion_id: (discussions as { id: string }[])[1]?.id ?? '' }
  await api.call(`GET ${commits}/{sha}/discussions/{discussion_id}`, { path: discussion })

  const status = { state: 'running', ref: 'work', target_url: 'https://ci.example.com/7', coverage: 93.5 }
  await api.call('POST /projects/{id}/statuses/{sha}', { path: commit, body: status })
  await api.call(`GET ${commits}/{sha}/statuses`, { path: commit, query: { ref: 'work' } })
  const finding = { ruleId: 'R1', message: { text: 'Look' } }
  const report = { version: '2.1.0', runs: [{ tool: { driver: { name: 'scan' } }, results: [finding] }] }
  const named = { path: commit, query: { name: 'default' } }
  const content = { content: JSON.stringify(report), headers: { 'Content-Type': 'application/sarif+json' } }
  await api.call('POST /projects/{id}/statuses/{sha}/report', { ...named, ...content })
  await api.call('GET /projects/{id}/statuses/{sha}/report', named)
  await api.call('GET /projects/{id}/statuses/{sha}/reports', named)
  await api.call('GET /projects/{id}/statuses/{sha}/report_changes', { path: commit })
  const tests = '<testsuite name="s"><testcase name="a"/><testcase name="b"><failure/></testcase></testsuite>'
  const junit = { content: tests, headers: { 'Content-Type': 'application/xml' } }
  await api.call('POST /projects/{id}/statuses/{sha}/report', { ...named, ...junit })
  await api.call('GET /projects/{id}/statuses/{sha}/report_changes', { path: commit })
  await api.call(`GET ${commits}/{sha}`, { path: commit })

  const pick = { branch: 'main', dry_run: true }
  expect(await api.call(`POST ${commits}/{sha}/cherry_pick`, { path: commit, body: pick })).toMatchObject({
    status: 200,
  })
  await api.call(`POST ${commits}/{sha}/cherry_pick`, { path: commit, body: { branch: 'main' } })
  await api.call(`POST ${commits}/{sha}/revert`, { path: commit, body: { branch: 'main' } })
}

async function callHooks(path: { id: number }) {
  const hooks = '/projects/{id}/hooks'
  const body = { url: 'https://hooks.example.com/', note_events: true }
  const hook = { ...path, hook_id: idOf(await api.call(`POST ${hooks}`, { path, body })) }
  await api.call(`GET ${hooks}`, { path })
  await api.call(`POST ${hooks}/preview`, { path, body: { trigger: 'push_events', message_format: 'plain' } })
  await api.call(`GET ${hooks}/{hook_id}`, { path: hook })
  await api.call(`PUT ${hooks}/{hook_id}`, { path: hook, body: { job_events: true } })
  const header = { ...hook, key: 'X-Key' }
  await api.call(`PUT ${hooks}/{hook_id}/custom_headers/{key}`, { path: header, body: { value: 'one' } })
  await api.call(`DELETE ${hooks}/{hook_id}/custom_headers/{key}`, { path: header })
  const test = await api.call(`POST ${hooks}/{hook_id}/test/{trigger}`, {
    path: { ...hook, trigger: 'push_events' },
  })
  const delivery = { ...hook, delivery_id: (test.body as { id: string }).id }
  await api.call(`GET ${hooks}/{hook_id}/deliveries`, { path: hook })
  await api.call(`GET ${hooks}/{hook_id}/deliveries/{delivery_id}`, { path: delivery })
  await api.call(`POST ${hooks}/{hook_id}/deliveries/{delivery_id}/redeliver`, { path: delivery })
  await api.call(`DELETE ${hooks}/{hook_id}`, { path: hook })
}

it('every operation answers as documented', async () => {
  await api.call('GET /openapi.json', { token: null })
  const user = await callUsersAndTokens()
  await callSession(api, signIn)
  await callSignIn(api, signIn, user)
  const given = { name: 'Engine', visibility: 'public', initialize_with_readme: true }
  const project = { id: idOf(await api.call('POST /projects', { body: given })) }
  await callProject(project, user)
  await callDeployTokens(api, project)
  await callTrustedIssuers(api, project, issuer)
  await callReferences(project)
  await callReleases(project)
  await callPackages(api, project)
  await callUploads(api, project)
  await callFiles(project)
  await callDeployments(api, harness.database, project)
  await callProtectedEnvironments(api, project)
  await callComparisons(project)
  await callSearch(api, project)
  await callChangelog(api, project)
  await callSubmodules(api, project, await addSubmodule(await repositoryPath(project.id)))
  await callProtectOneBranch(api, project)
  await callCommits(project)
  await callPipelines(api, project)
  await callHooks(project)
  const [event] = (await api.call('GET /audit_events')).body as { id: number }[]
  await api.call('GET /audit_events/{id}', { path: { id: event?.id ?? 0 } })
  await api.call('DELETE /projects/{id}', { path: project })
  expect(api.uncalled().sort()).toEqual(refusedAlways.sort())
})

it('refusals match the documentation', async () => {
  const { tokens } = harness
  const given = { path: 'refusals', initialize_with_readme: true }
  const path = { id: idOf(await api.call('POST /projects', { body: given, token: tokens.owner })) }
  const commits = '/projects/{id}/repository/commits'
  const failing = { action: 'delete', file_path: 'missing.txt' }
  const commit = { branch: 'main', commit_message: 'x', actions: [failing] }
  const answers = [
    await api.call('POST /users', { body: { name: 'x' } }),
    await api.call('POST /users', { body: { email: 'x@example.com', username: 'no name', name: 'x' } }),
    await api.call('GET /user', { token: null }),
    await api.call('GET /user', { token: tokens.ownerRepository }),
    await api.call('GET /users', { token: tokens.user }),
    await api.call('GET /projects/{id}', { path, token: tokens.user }),
    await api.call('POST /projects', { body: given, token: tokens.owner }),
    await api.call(`POST ${commits}`, { path, body: commit }),
    await api.call(`GET ${commits}/{sha}`, { path: { ...path, sha: 'nowhere' } }),
    await api.call('POST /projects', { headers: { 'Content-Type': 'text/plain' }, body: given }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([400, 400, 401, 403, 403, 404, 400, 400, 404, 415])
})

it('the document of the whole API is public, and is revalidated without being sent again', async () => {
  const url = `${harness.baseUrl}/api/v4/openapi.json`
  const response = await fetch(url)
  expect(response.headers.get('Content-Type')).toBe('application/json')
  const { paths } = (await response.json()) as { paths: Record<string, unknown> }
  expect(Object.keys(paths)).toEqual(
    expect.arrayContaining(['/projects/{id}', '/broadcast_messages', '/jobqueue/history', '/sagas']),
  )
  const again = await fetch(url, { headers: { 'If-None-Match': response.headers.get('ETag') ?? '' } })
  expect(again.status).toBe(304)
})
