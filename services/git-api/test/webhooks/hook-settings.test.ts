import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Project } from '@switchyard/db'
import { startTestRedis, type TestGitRepository, type TestRedis, waitFor } from '@switchyard/testing'
import { verify } from '@switchyard/webhooks/signature'
import { execa } from 'execa'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'
import { outcome } from '../harness.js'
import { startWorkerProcess } from '../worker-process.js'
import { startHookReceiver } from './hook-receiver.js'

let redis: TestRedis
let harness: GitHarness
let worker: Awaited<ReturnType<typeof startWorkerProcess>>
let receiver: Awaited<ReturnType<typeof startHookReceiver>>
let project: Project
let work: TestGitRepository

const env = {
  WEBHOOK_ALLOWED_HOSTS: '127.0.0.1',
  WEBHOOK_SECRET_KEYS: randomBytes(32).toString('base64'),
}

beforeAll(async () => {
  redis = await startTestRedis()
  harness = await startGitHarness({ redisUrl: redis.urlOf('git-api'), env })
  worker = await startWorkerProcess({
    ...env,
    DATABASE_URL: harness.databaseUrl,
    REDIS_URL: redis.urlOf('worker'),
    SWITCHYARD_STORAGE_ROOT: harness.storageRoot,
  })
  ;({ project, work } = await pushSample(harness))
})
beforeEach(async () => {
  receiver = await startHookReceiver()
})
afterEach(async () => {
  await harness.database.prisma.webhook.deleteMany()
  receiver.close()
})
afterAll(async () => {
  await worker?.close()
  await work?.close()
  await harness?.close()
  await redis?.stop()
})

const hooks = (rest: string | number = '') => `/projects/${project.id}/hooks${rest === '' ? '' : `/${rest}`}`
const ask = (method: string, path: string, body?: unknown) =>
  outcome(harness.send('owner', method, path, body))

async function added(fields: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
  const { status, body } = await ask('POST', hooks(), { url: receiver.url, ...fields })
  expect(status).toBe(201)
  return body ?? {}
}

/** Pushes new branches, one by one. */
async function push(...names: string[]): Promise<void> {
  for (const name of names) {
    await work.git('push', '--quiet', harness.remote('developer', project), `main:refs/heads/${name}`)
  }
}

async function toldRefs(count: number): Promise<unknown[]> {
  await waitFor(async () => receiver.received.length >= count, { what: `${count} deliveries` })
  return receiver.received.map(({ json }) => json.ref).sort()
}

const everything = {
  name: 'Builds',
  description: 'Tells the builder',
  push_events: false,
  tag_push_events: true,
  note_events: true,
  job_events: true,
  pipeline_events: true,
  deployment_events: true,
  releases_events: true,
  issues_events: true,
  confidential_issues_events: true,
  merge_requests_events: true,
  confidential_note_events: true,
  wiki_page_events: true,
  repository_update_events: true,
  feature_flag_events: true,
  milestone_events: true,
  emoji_events: true,
  resource_access_token_events: true,
  resource_deploy_token_events: true,
  vulnerability_events: true,
  push_events_branch_filter: '^release/',
  branch_filter_strategy: 'regex',
  enable_ssl_verification: false,
  custom_webhook_template: '{"kind": "{{object_kind}}"}',
}
const withHeaders = (...keys: string[]) => keys.map((key) => ({ key, value: `secret of ${key}` }))

test('every field of a webhook is read back as given, except for secret values', async () => {
  const given = { ...everything, custom_headers: withHeaders('X-Key', 'Authorization') }
  const shown = { ...everything, custom_headers: [{ key: 'X-Key' }, { key: 'Authorization' }] }
  const made = await added(given)
  expect(made).toMatchObject(shown)
  const plain = await added()
  const changed = await ask('PUT', hooks(String(plain.id)), given)
  expect(changed).toMatchObject({ status: 200, body: shown })
  expect(await ask('GET', hooks(String(plain.id)))).toEqual(changed)
  const list = await harness.send('owner', 'GET', hooks())
  expect(await list.json()).toEqual([made, changed.body])
  expect(JSON.stringify([made, changed])).not.toContain('secret of')
  const [row] = await harness.database.prisma.webhook.findMany()
  expect(Buffer.from(row?.encryptedHeaders ?? []).toString('latin1')).not.toContain('secret of')

  const one = await ask('PUT', hooks(String(plain.id)), { description: 'Other' })
  expect(one.body).toMatchObject({ ...shown, description: 'Other' })
  const emptied = { push_events_branch_filter: '', custom_headers: [], custom_webhook_template: null }
  expect((await ask('PUT', hooks(String(plain.id)), emptied)).body).toMatchObject(emptied)
})

test.each([
  ['wildcard', 'release/*', ['release/1', 'release/a/b'], ['main2', 'a-release/1']],
  ['regex', '^r[0-9]+$', ['r1', 'r22'], ['r', 'xr1', 'r1x']],
])(
  'a filter read as %s lets the webhook hear of matching branches only',
  async (strategy, filter, heard, not) => {
    await added({
      push_events_branch_filter: filter,
      branch_filter_strategy: strategy,
      tag_push_events: true,
    })
    await push(...not, ...heard)
    await work.git('push', '--quiet', harness.remote('owner', project), `main:refs/tags/t-${strategy}`)
    const refs = [...heard.map((name) => `refs/heads/${name}`), `refs/tags/t-${strategy}`].sort()
    expect(await toldRefs(refs.length)).toEqual(refs)
    const deliveries = await harness.database.prisma.webhookDelivery.count()
    expect(deliveries).toBe(refs.length)
  },
)

test('a filter is ignored with the strategy for all branches', async () => {
  await added({ push_events_branch_filter: 'release/*', branch_filter_strategy: 'all_branches' })
  await push('anything')
  expect(await toldRefs(1)).toEqual(['refs/heads/anything'])
})

test('custom headers are sent with their values, and replaced together', async () => {
  const hook = await added({ custom_headers: withHeaders('X-Key', 'Authorization') })
  await push('with-headers')
  await toldRefs(1)
  expect(receiver.received[0]?.headers).toMatchObject({
    'x-key': 'secret of X-Key',
    authorization: 'secret of Authorization',
    'x-gitlab-event': 'Push Hook',
  })
  await ask('PUT', hooks(String(hook.id)), { custom_headers: withHeaders('X-Other') })
  await push('with-other-headers')
  await toldRefs(2)
  expect(receiver.received[1]?.headers).toMatchObject({ 'x-other': 'secret of X-Other' })
  expect(receiver.received[1]?.headers).not.toHaveProperty('x-key')
})

const headersOf = async (hook: unknown) => (await ask('GET', hooks(String(hook)))).body?.custom_headers
const setHeader = (hook: unknown, key: string, value?: unknown) =>
  ask('PUT', hooks(`${hook}/custom_headers/${encodeURIComponent(key)}`), { value })
const removeHeader = (hook: unknown, key: string) =>
  ask('DELETE', hooks(`${hook}/custom_headers/${encodeURIComponent(key)}`))

test('one custom header is added, changed and removed by its name, and the others stay', async () => {
  const { id } = await added({ custom_headers: withHeaders('X-Key', '10', 'X-Old') })
  const done = { status: 204, body: null }
  expect(await setHeader(id, 'Authorization', 'Bearer of the header')).toEqual(done)
  expect(await setHeader(id, 'x-key', 'new secret')).toEqual(done)
  expect(await removeHeader(id, 'x-old')).toEqual(done)
  expect(await headersOf(id)).toEqual([{ key: 'x-key' }, { key: '10' }, { key: 'Authorization' }])
  await push('with-single-headers')
  await toldRefs(1)
  const { headers } = receiver.received[0] ?? {}
  expect(headers).toMatchObject({
    'x-key': 'new secret',
    '10': 'secret of 10',
    authorization: 'Bearer of the header',
  })
  expect(headers).not.toHaveProperty('x-old')
  const [row] = await harness.database.prisma.webhook.findMany()
  expect(Buffer.from(row?.encryptedHeaders ?? []).toString('latin1')).not.toContain('new secret')
  const { details } = await harness.database.prisma.auditEvent.findFirstOrThrow({ orderBy: { id: 'desc' } })
  expect(details).toMatchObject({ webhook_id: id })
  expect(JSON.stringify(details)).not.toContain('secret')

  for (const { key } of (await headersOf(id)) as { key: string }[]) await removeHeader(id, key)
  expect(await headersOf(id)).toEqual([])
  expect(await removeHeader(id, 'x-key')).toEqual({
    status: 404,
    body: { message: '404 Custom Header Not Found' },
  })
})

test('headers that are set in parallel are all kept', async () => {
  const { id } = await added()
  const keys = Array.from({ length: 8 }, (_, index) => `X-Key-${index}`)
  await Promise.all(keys.map((key) => setHeader(id, key, `secret of ${key}`)))
  expect(((await headersOf(id)) as { key: string }[]).map(({ key }) => key).sort()).toEqual(keys)
})

test('a single header must meet the rules of all headers, and is set in the version that was read', async () => {
  const { id } = await added({
    custom_headers: withHeaders(...Array.from({ length: 20 }, (_, i) => `X-${i}`)),
  })
  const refused = { status: 400, body: { message: { custom_headers: [expect.any(String)] } } }
  expect(await setHeader(id, 'X-20', 'one too many')).toEqual(refused)
  expect(await setHeader(id, 'X-0', '')).toEqual(refused)
  expect(await setHeader(id, 'X-0', 'a\r\nB: c')).toEqual(refused)
  expect(await setHeader(id, 'X-0', 'x'.repeat(2049))).toEqual(refused)
  expect(await setHeader(id, 'X-0')).toEqual({ status: 400, body: { error: 'value is missing' } })
  await removeHeader(id, 'X-0')
  for (const key of ['a b', 'Host', 'X-Gitlab-Token', 'a/b'])
    expect(await setHeader(id, key, 'x')).toEqual(refused)
  expect(await headersOf(id)).toHaveLength(19)
  const missing = { status: 404, body: { message: '404 Webhook Not Found' } }
  expect(await setHeader(999_999, 'X-Key', 'x')).toEqual(missing)
  expect(await removeHeader(999_999, 'X-Key')).toEqual(missing)

  const etag = (await harness.send('owner', 'GET', hooks(String(id)))).headers.get('ETag') ?? ''
  const change = (value: string) =>
    fetch(`${harness.baseUrl}/api/v4${hooks(`${id}/custom_headers/X-1`)}`, {
      method: 'PUT',
      headers: { 'PRIVATE-TOKEN': harness.tokens.owner, 'If-Match': etag },
      body: new URLSearchParams({ value }),
    })
  expect([(await change('one')).status, (await change('two')).status]).toEqual([204, 412])
})

test('a template is the body for events and tests, and the signature covers it', async () => {
  const token = 'shared-with-the-receiver'
  const template =
    '{"what": "{{object_kind}} to {{ref}}", "by": {{user_username}}, "commits": {{total_commits_count}}}'
  const hook = await added({ custom_webhook_template: template, token })
  await push('templated')
  await waitFor(async () => receiver.received.length > 0, { what: 'a delivery' })
  const [hit] = receiver.received
  expect(hit?.json).toEqual({ what: 'push to refs/heads/templated', by: 'dora', commits: 0 })
  const signature = String(hit?.headers['x-switchyard-signature'])
  expect(verify({ secret: token, signature, body: hit?.body ?? '' })).toBe(true)
  const tried = await ask('POST', hooks(`${hook.id}/test/push_events`))
  expect(JSON.parse(String(tried.body?.request_body))).toMatchObject({ what: 'push to refs/heads/main' })
})

test('a template is the body for jobs and pipelines, too', async () => {
  const template = '{"what": "{{object_kind}}"}'
  await added({ custom_webhook_template: template, job_events: true, pipeline_events: true })
  const posted = await harness.send(
    'developer',
    'POST',
    `/projects/${project.id}/statuses/main?state=success&name=templated`,
  )
  expect(posted.status).toBe(201)
  await waitFor(async () => receiver.received.length > 1, { what: 'two deliveries' })
  const kinds = receiver.received.map(({ json }) => json)
  expect(kinds).toHaveLength(2)
  expect(kinds).toEqual(expect.arrayContaining([{ what: 'build' }, { what: 'pipeline' }]))
})

test('a message for people is the body, and the signature covers it', async () => {
  const token = 'shared-with-the-receiver'
  const hook = await added({ message_format: 'mattermost', token })
  expect(hook).toMatchObject({ message_format: 'mattermost', custom_webhook_template: null })
  await push('spoken')
  await waitFor(async () => receiver.received.length > 0, { what: 'a delivery' })
  const [hit] = receiver.received
  expect(hit?.json).toEqual({ text: expect.stringContaining('pushed to refs/heads/spoken of [') })
  const signature = String(hit?.headers['x-switchyard-signature'])
  expect(verify({ secret: token, signature, body: hit?.body ?? '' })).toBe(true)
  const change = (fields: object) => ask('PUT', hooks(String(hook.id)), fields)
  expect(await change({ custom_webhook_template: '[]' })).toMatchObject({ status: 400 })
  const custom = { custom_webhook_template: '[]', message_format: null }
  expect(await change(custom)).toMatchObject({ status: 200, body: custom })
})

test('an untrusted certificate is accepted only when the webhook allows it', async () => {
  const server = await startTlsReceiver()
  try {
    const strict = await added({ url: server.url })
    const lax = await added({ url: server.url, enable_ssl_verification: false })
    await push('over-tls')
    await waitFor(async () => server.received.length > 0, { what: 'a delivery over TLS' })
    const first = async (id: unknown) => {
      const list = await harness.send('owner', 'GET', `${hooks(String(id))}/deliveries`)
      return JSON.parse(await list.text())[0]
    }
    await waitFor(async () => (await first(strict.id)).error !== null, { what: 'a failure' })
    expect(await first(strict.id)).toMatchObject({ state: 'pending', error: expect.stringContaining('CERT') })
    await waitFor(async () => (await first(lax.id)).state === 'succeeded', { what: 'a success' })
    expect(server.received).toHaveLength(1)
  } finally {
    server.close()
  }
})

async function startTlsReceiver() {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1']
  const names = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-receiver-'))
  const file = join(folder, 'both.pem')
  const { stdout: certificate } = await execa('openssl', ['req', '-x509', ...key, ...names, '-keyout', file])
  const pem = `${certificate}\n${await readFile(file, 'utf8')}`
  await rm(folder, { recursive: true })
  const received: string[] = []
  const server = createServer({ key: pem, cert: pem }, (request, response) => {
    received.push(request.url ?? '')
    request.resume()
    response.end('taken')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    received,
    url: `https://127.0.0.1:${port}/`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

test.each([
  [{ push_events_branch_filter: '(', branch_filter_strategy: 'regex' }, 'push_events_branch_filter'],
  [{ push_events_branch_filter: '(?=x)', branch_filter_strategy: 'regex' }, 'push_events_branch_filter'],
  [{ push_events_branch_filter: 'x'.repeat(256) }, 'push_events_branch_filter'],
  [{ custom_webhook_template: '{"a": ' }, 'custom_webhook_template'],
  [{ message_format: 'pigeon' }, 'message_format'],
  [{ message_format: 'slack', custom_webhook_template: '[]' }, 'message_format'],
  [{ custom_headers: [{ key: 'a b', value: 'x' }] }, 'custom_headers'],
  [{ custom_headers: [{ key: 'A', value: 'x\r\nB: y' }] }, 'custom_headers'],
  [{ custom_headers: [{ key: 'Content-Length', value: '1' }] }, 'custom_headers'],
  [{ custom_headers: [{ key: 'x-gitlab-token', value: '1' }] }, 'custom_headers'],
  [{ custom_headers: [...withHeaders('A', 'a')] }, 'custom_headers'],
  [{ name: 'x'.repeat(256) }, 'name'],
  [{ description: 'x'.repeat(2049) }, 'description'],
])('%j is refused by name', async (given, name) => {
  const hook = await added()
  const refused = { status: 400, body: { message: { [name]: [expect.any(String)] } } }
  expect(await ask('POST', hooks(), { url: receiver.url, ...given })).toEqual(refused)
  expect(await ask('PUT', hooks(String(hook.id)), given)).toEqual(refused)
})

test.each([
  [
    'a template that is too long',
    { custom_webhook_template: `"${'x'.repeat(4100)}"` },
    'custom_webhook_template is too long (maximum is 4096 characters)',
  ],
  [
    'an unknown strategy',
    { branch_filter_strategy: 'some' },
    'branch_filter_strategy does not have a valid value',
  ],
  ['a header without a value', { custom_headers: [{ key: 'A' }] }, 'custom_headers[0][value] is missing'],
  [
    'a variable of the address',
    { url_variables: [{ key: 'a', value: 'b' }] },
    'url_variables is not supported: addresses have no variables',
  ],
])('%s is refused as a parameter', async (_what, given, error) => {
  expect(await ask('POST', hooks(), { url: receiver.url, ...given })).toEqual({
    status: 400,
    body: { error },
  })
})

test('an unchanged filter must be valid for a changed strategy', async () => {
  const hook = await added({ push_events_branch_filter: '*x' })
  const changed = await ask('PUT', hooks(String(hook.id)), { branch_filter_strategy: 'regex' })
  expect(changed).toMatchObject({
    status: 400,
    body: { message: { push_events_branch_filter: [expect.any(String)] } },
  })
})
