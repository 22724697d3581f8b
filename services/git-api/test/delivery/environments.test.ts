import type { Project } from '@switchyard/db'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
let path: string

beforeAll(async () => {
  harness = await startGitHarness()
  const sample = await pushSample(harness)
  await sample.work.close()
  ;({ project } = sample)
  path = `/projects/${project.id}/environments`
})
afterAll(() => harness?.close())

const ask = (method: string, rest = '', body?: unknown, who: keyof GitHarness['tokens'] = 'developer') =>
  harness.ask(who, method, `${path}${rest}`, body)
const create = async (name: string, fields: object = {}) =>
  (await ask('POST', '', { name, ...fields })).body as { id: number }

it('an environment is created with a derived tier and a slug', async () => {
  const { status, body } = await ask('POST', '', {
    name: 'review/login',
    external_url: 'https://login.example.com',
  })
  expect(status).toBe(201)
  expect(body).toEqual({
    id: expect.any(Number),
    name: 'review/login',
    slug: expect.stringMatching(/^review-login-[a-z0-9]{6}$/),
    external_url: 'https://login.example.com',
    created_at: expect.stringMatching(/Z$/),
    updated_at: expect.stringMatching(/Z$/),
    tier: 'development',
    state: 'available',
    auto_stop_at: null,
    description: null,
    auto_stop_setting: 'always',
    project: expect.objectContaining({
      id: project.id,
      path_with_namespace: project.pathWithNamespace,
      namespace: expect.objectContaining({ kind: 'user' }),
    }),
  })
  expect(body.project).not.toHaveProperty('permissions')
})

it('an environment is shown without its project, and with its current deployment', async () => {
  const { id } = await create('shown', { tier: 'staging', description: 'For a look' })
  const { body } = await ask('GET', `/${id}`, undefined, 'reporter')
  expect(body).toMatchObject({ id, tier: 'staging', description: 'For a look', last_deployment: null })
  expect(body).not.toHaveProperty('project')
  const given = { environment: 'shown', sha: 'main', ref: 'main', tag: false, status: 'success' }
  const deployment = await harness.ask('developer', 'POST', `/projects/${project.id}/deployments`, given)
  expect((await ask('GET', `/${id}`)).body.last_deployment).toEqual(deployment.body)
})

it('a change applies to the given fields, and never to the name or the slug', async () => {
  const { id } = await create('kept', { external_url: 'https://kept.example.com' })
  const changed = await ask('PUT', `/${id}`, { name: 'other', tier: 'production', external_url: '' })
  expect(changed).toMatchObject({
    status: 200,
    body: { name: 'kept', slug: 'kept', tier: 'production', external_url: null },
  })
  expect(changed.body.updated_at > changed.body.created_at).toBe(true)
  expect(await ask('PUT', `/${id}`, { slug: 'mine' })).toMatchObject({
    status: 400,
    body: { error: 'slug is automatically generated and cannot be changed' },
  })
})

it.each(['cluster_agent_id', 'kubernetes_namespace', 'flux_resource_path'])(
  'refuses %s by its name, and takes an empty one',
  async (field) => {
    const name = `without-${field.replaceAll('_', '-')}`
    const made = await ask('POST', '', { name, [field]: '' })
    expect(made.status).toBe(201)
    const error = `${field} is not supported: there are no agents of clusters`
    const refused = { status: 400, body: { error } }
    expect(await ask('POST', '', { name: `${name}-2`, [field]: 'x' })).toMatchObject(refused)
    expect(await ask('PUT', `/${made.body.id}`, { [field]: 'x' })).toMatchObject(refused)
  },
)

it('an environment can be stopped repeatedly, and deleted only when it is stopped', async () => {
  const { id } = await create('short-lived')
  expect(await ask('DELETE', `/${id}`)).toMatchObject({
    status: 403,
    body: { message: '403 Forbidden - Only a stopped environment can be deleted. Stop it first' },
  })
  for (const body of [{}, { force: true }]) {
    expect(await ask('POST', `/${id}/stop`, body)).toMatchObject({
      status: 200,
      body: { id, state: 'stopped' },
    })
  }
  expect((await ask('DELETE', `/${id}`)).status).toBe(204)
  for (const [method, rest] of [
    ['GET', ''],
    ['PUT', ''],
    ['POST', '/stop'],
    ['DELETE', ''],
  ]) {
    const { status, body } = await ask(method as string, `/${id}${rest}`)
    expect([method, status, body.message]).toEqual([method, 404, '404 Not found'])
  }
})

it('environments are listed by id, with totals, by name, part of the name, and state', async () => {
  for (const name of ['list-a', 'list-B', 'LIST-c']) await create(name)
  const { id } = await create('list-stopped')
  await ask('POST', `/${id}/stop`)
  const names = async (query: string) => {
    const { body, headers } = await ask('GET', `?${query}`, undefined, 'reporter')
    return [headers.get('X-Total'), ...body.map(({ name }: { name: string }) => name)]
  }
  expect(await names('search=list-')).toEqual(['4', 'list-a', 'list-B', 'LIST-c', 'list-stopped'])
  expect(await names('search=list-&per_page=2&page=2')).toEqual(['4', 'LIST-c', 'list-stopped'])
  expect(await names('name=list-b')).toEqual(['0'])
  expect(await names('name=list-B')).toEqual(['1', 'list-B'])
  expect(await names('search=list-&states=stopped')).toEqual(['1', 'list-stopped'])
  expect(await names('search=list-&states=stopping')).toEqual(['0'])
  expect(await names('search=%25%25%25')).toEqual(['0'])
})

it.each([
  ['POST', '', {}, { error: 'name is missing' }],
  ['POST', '', { name: ' ' }, { error: 'name is empty' }],
  ['POST', '', { name: 'a,b' }, { message: { name: [expect.stringContaining('can contain only')] } }],
  ['POST', '', { name: 'a/' }, { message: { name: [expect.any(String)] } }],
  ['POST', '', { name: 'x', tier: 'best' }, { error: 'tier does not have a valid value' }],
  ['POST', '', { name: 'x', slug: 'x' }, { error: 'slug is automatically generated and cannot be changed' }],
  [
    'POST',
    '',
    { name: 'x', external_url: 'javascript:alert(1)' },
    { message: { external_url: ['is blocked: Only allowed schemes are http, https'] } },
  ],
  [
    'POST',
    '',
    { name: 'x', description: 'x'.repeat(10_001) },
    { message: { description: ['is too long (maximum is 10000 characters)'] } },
  ],
  ['GET', '?search=ab', undefined, { message: '400 Bad request - Search query is less than 3 characters' }],
  ['GET', '?search=abc&name=x', undefined, { error: 'name, search cannot be used together' }],
  ['GET', '?states=gone', undefined, { error: 'states does not have a valid value' }],
  ['GET', '/nothing', undefined, { error: 'environment_id is invalid' }],
])('refuses %s %s %j', async (method, rest, body, expected) => {
  const answer = await ask(method, rest, body)
  expect(answer).toMatchObject({ status: 400, body: expected })
})

it('a name is accepted once, even from many parallel requests', async () => {
  const answers = await Promise.all(Array.from({ length: 5 }, () => ask('POST', '', { name: 'race' })))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400])
  expect((await ask('POST', '', { name: 'race' })).body.message).toEqual(['Name has already been taken'])
})

it('reporters read and developers write environments', async () => {
  const { id } = await create('guarded')
  const status = async (who: keyof GitHarness['tokens'] | 'anonymous', method: string, rest: string) =>
    (await harness.ask(who, method, `${path}${rest}`, method === 'GET' ? undefined : { name: `by-${who}` }))
      .status
  expect(await status('anonymous', 'GET', '')).toBe(401)
  expect(await status('stranger', 'GET', '')).toBe(404)
  expect(await status('guest', 'GET', `/${id}`)).toBe(403)
  expect(await status('reporter', 'GET', `/${id}`)).toBe(200)
  expect(await status('reporter', 'POST', '')).toBe(403)
  expect(await status('reporter', 'POST', `/${id}/stop`)).toBe(403)
  expect(await status('developer', 'POST', '')).toBe(201)
})

it('the environments of a project are deleted with it', async () => {
  const other = await harness.project()
  await harness.ask('developer', 'POST', `/projects/${other.id}/environments`, { name: 'production' })
  expect((await harness.ask('owner', 'DELETE', `/projects/${other.id}`)).status).toBe(202)
  expect(await harness.database.prisma.environment.count({ where: { projectId: other.id } })).toBe(0)
})

it('environments without deployments since a time are stopped', async () => {
  const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 60 * 60 * 1000)
  const stale = await create('stale/idle')
  const used = await create('stale/used')
  const live = await create('stale/protected')
  const protection = { name: 'stale/protected', deploy_access_levels: [{ access_level: 40 }] }
  await harness.ask('owner', 'POST', `/projects/${project.id}/protected_environments`, protection)
  const given = { environment: 'stale/used', sha: 'main', ref: 'main', tag: false, status: 'success' }
  await harness.ask('developer', 'POST', `/projects/${project.id}/deployments`, given)
  const ids = [stale.id, used.id, live.id]
  await harness.database.prisma.environment.updateMany({
    where: { projectId: project.id, id: { in: ids } },
    data: { updatedAt: daysAgo(30) },
  })
  const stop = (before: Date | string, who: keyof GitHarness['tokens'] | 'anonymous' = 'owner') =>
    harness.ask(who, 'POST', `${path}/stop_stale`, { before })
  const message = 'Successfully requested stop for all stale environments'
  expect(await stop(daysAgo(40))).toMatchObject({ status: 200, body: { message } })
  const states = async () => Promise.all(ids.map(async (id) => (await ask('GET', `/${id}`)).body.state))
  expect(await states()).toEqual(['available', 'available', 'available'])
  expect((await stop(daysAgo(8))).status).toBe(200)
  expect(await states()).toEqual(['stopped', 'available', 'available'])
  for (const before of [daysAgo(1), daysAgo(4000), 'soon', '']) expect((await stop(before)).status).toBe(400)
  expect((await harness.ask('owner', 'POST', `${path}/stop_stale`)).body).toMatchObject({
    error: 'before is missing',
  })
  const refused = [
    await stop(daysAgo(8), 'anonymous'),
    await stop(daysAgo(8), 'stranger'),
    await stop(daysAgo(8)),
  ]
  expect(refused.map(({ status }) => status)).toEqual([401, 404, 200])
  expect((await stop(daysAgo(8), 'developer')).status).toBe(403)
})
