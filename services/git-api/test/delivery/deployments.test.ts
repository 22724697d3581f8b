import type { Project } from '@switchyard/db'
import { deploymentStatuses } from '@switchyard/domain/deployment'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
let path: string
let commits: Record<'first' | 'second' | 'third' | 'side', string>

beforeAll(async () => {
  harness = await startGitHarness()
  const sample = await pushSample(harness)
  await sample.work.close()
  ;({ project, commits } = sample)
  path = `/projects/${project.id}/deployments`
})
afterAll(() => harness?.close())

const ask = (method: string, rest = '', body?: unknown, who: keyof GitHarness['tokens'] = 'developer') =>
  harness.ask(who, method, `${path}${rest}`, body)
const given = (environment: string, fields: object = {}) => ({
  environment,
  sha: commits.third,
  ref: 'main',
  tag: false,
  status: 'running',
  ...fields,
})
const deploy = async (environment: string, fields: object = {}) => {
  const { status, body } = await ask('POST', '', given(environment, fields))
  expect(status).toBe(201)
  return body
}
const move = (id: number, status: string) => ask('PUT', `/${id}`, { status })

describe('POST', () => {
  it('records a deployment, and creates its environment', async () => {
    const body = await deploy('production', { saga_id: ' 42 ' })
    expect(body).toEqual({
      id: expect.any(Number),
      iid: 1,
      ref: 'main',
      tag: false,
      sha: commits.third,
      created_at: expect.stringMatching(/Z$/),
      updated_at: body.created_at,
      finished_at: null,
      user: expect.objectContaining({ username: 'dora' }),
      environment: {
        id: expect.any(Number),
        name: 'production',
        slug: 'production',
        external_url: null,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
      deployable: null,
      status: 'running',
      frozen: false,
      saga_id: '42',
      saga_tenant: 'default',
      job_identity: null,
      services: [],
    })
    expect((await ask('GET', `/${body.id}`, undefined, 'reporter')).body).toEqual(body)
    expect((await deploy('production')).iid).toBe(2)
  })

  it('stores its services, each once, and differs from a success with other services', async () => {
    const success = { status: 'success', services: [' billing ', 'mail', 'billing'] }
    const first = await deploy('services', success)
    expect(first.services).toEqual(['billing', 'mail'])
    expect((await ask('GET', `/${first.id}`)).body.services).toEqual(['billing', 'mail'])
    expect((await deploy('services', success)).id).toBe(first.id)
    expect((await deploy('services', { status: 'success' })).id).toBe(first.id)
    expect((await deploy('services', { ...success, services: ['mail'] })).id).not.toBe(first.id)
  })

  it("uses the project's services by default", async () => {
    const set = (default_services: unknown) =>
      harness.ask('owner', 'PUT', `/projects/${project.id}`, { default_services })
    expect(await set([' billing ', 'billing', 'mail'])).toMatchObject({
      status: 200,
      body: { default_services: ['billing', 'mail'] },
    })
    expect((await deploy('of-the-project')).services).toEqual(['billing', 'mail'])
    expect((await deploy('of-the-project', { services: ['stock'] })).services).toEqual(['stock'])
    expect((await deploy('of-the-project', { services: [] })).services).toEqual([])
    expect((await set('stock, mail,')).body.default_services).toEqual(['stock', 'mail'])
    expect((await set([' '])).status).toBe(400)
    expect((await set('')).body.default_services).toEqual([])
    expect((await deploy('of-the-project')).services).toEqual([])
  })

  it('accepts tags, short hashes, and commits that are not on the branch', async () => {
    const tagged = await deploy('tags', { ref: 'v1.0', tag: true, sha: commits.side.slice(0, 10) })
    expect(tagged).toMatchObject({ ref: 'v1.0', tag: true, sha: commits.side })
  })

  it('returns the last successful deployment when it is repeated, and otherwise a new one', async () => {
    const first = await deploy('repeated', { status: 'success', saga_id: '1' })
    expect(first.finished_at).toBe(first.created_at)
    expect((await deploy('repeated', { status: 'success' })).id).toBe(first.id)
    expect((await deploy('repeated', { status: 'success', saga_id: '1' })).id).toBe(first.id)
    const others = [
      await deploy('repeated', { status: 'success', saga_id: '2' }),
      await deploy('repeated', { status: 'success', sha: commits.first }),
      await deploy('repeated', { status: 'success' }),
      await deploy('repeated', { status: 'running' }),
      await deploy('repeated', { status: 'running' }),
    ]
    expect(new Set([first, ...others].map(({ id }) => id)).size).toBe(6)
  })

  it('numbers the deployments of parallel requests without gaps, and creates one environment', async () => {
    const other = await pushSample(harness)
    await other.work.close()
    const send = () =>
      harness.ask('developer', 'POST', `/projects/${other.project.id}/deployments`, {
        ...given('parallel'),
        sha: 'main',
      })
    const made = await Promise.all(Array.from({ length: 8 }, send))
    expect(made.map(({ body }) => body.iid).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(new Set(made.map(({ body }) => body.environment.id)).size).toBe(1)
    expect((await harness.ask('owner', 'DELETE', `/projects/${other.project.id}`)).status).toBe(202)
    const projectId = other.project.id
    expect(await harness.database.prisma.deployment.count({ where: { projectId } })).toBe(0)
  })

  it.each([
    [{ sha: 'f'.repeat(40) }, { message: { sha: ['The commit does not exist'] } }],
    [{ sha: '--all' }, { message: { sha: ['The commit does not exist'] } }],
    [{ ref: 'gone' }, { message: { ref: ['The branch or tag does not exist'] } }],
    [{ ref: 'main', tag: true }, { message: { ref: ['The branch or tag does not exist'] } }],
    [{ ref: '../main' }, { message: { ref: ['The branch or tag does not exist'] } }],
    [{ services: ['a', ' '] }, { error: 'services has a name that is blank or has control characters' }],
    [{ services: ['a\nb'] }, { error: 'services has a name that is blank or has control characters' }],
    [{ services: Array(51).fill('a') }, { error: 'services has more than 50 items' }],
    [{ environment: ' ' }, { error: 'environment is empty' }],
    [{ environment: 'a,b' }, { message: { environment: [expect.stringContaining('can contain only')] } }],
    [{ status: 'skipped' }, { error: 'status does not have a valid value' }],
    [{ tag: 'maybe' }, { error: 'tag is invalid' }],
    [{ saga_id: 'x'.repeat(129) }, { message: { saga_id: ['is invalid'] } }],
    [{ saga_id: '1', saga_tenant: 'a\nb' }, { message: { saga_tenant: ['is invalid'] } }],
    [
      { environment: '/', sha: 'x', ref: 'x' },
      {
        message: { environment: [expect.any(String)], sha: [expect.any(String)], ref: [expect.any(String)] },
      },
    ],
  ])('refuses %j and stores nothing', async (fields, expected) => {
    const before = (await ask('GET')).headers.get('X-Total')
    expect(await ask('POST', '', given('refused', fields))).toMatchObject({ status: 400, body: expected })
    expect((await ask('GET')).headers.get('X-Total')).toBe(before)
    const environments = await harness.ask(
      'reporter',
      'GET',
      `/projects/${project.id}/environments?name=refused`,
    )
    expect(environments.body).toEqual([])
  })

  it('names every missing parameter', async () => {
    const { body } = await ask('POST', '', {})
    for (const name of ['environment', 'sha', 'ref', 'tag', 'status'])
      expect(body.error).toContain(`${name} is missing`)
  })
})

describe('PUT', () => {
  it('moves a deployment to its end, and accepts the same status again', async () => {
    const { id } = await deploy('moved', { status: 'created' })
    for (const status of ['blocked', 'running', 'running', 'success']) {
      expect(await move(id, status)).toMatchObject({ status: 200, body: { id, status } })
    }
    const { body: ended } = await ask('GET', `/${id}`)
    expect(ended.finished_at).toBe(ended.updated_at)
    expect((await move(id, 'success')).body).toEqual(ended)
    expect(await move(id, 'failed')).toMatchObject({
      status: 400,
      body: { message: { status: ['cannot change from success to failed'] } },
    })
  })

  it('lets the first of several final statuses win', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await deploy('raced')
      const asked = ['success', 'failed', 'canceled', 'success', 'failed']
      const answers = await Promise.all(asked.map((status) => move(id, status)))
      const { status: final } = (await ask('GET', `/${id}`)).body
      for (const [index, { status }] of answers.entries()) {
        expect([asked[index], status]).toEqual([asked[index], asked[index] === final ? 200 : 400])
      }
    }
  })

  it('starts a stopped environment by a success, and by no other status', async () => {
    const { id, environment } = await deploy('stopped')
    const one = `/projects/${project.id}/environments/${environment.id}`
    const stateNow = async () => (await harness.ask('developer', 'GET', one)).body.state
    await harness.ask('developer', 'POST', `${one}/stop`)
    const failed = await deploy('stopped')
    await move(failed.id, 'failed')
    expect(await stateNow()).toBe('stopped')
    await move(id, 'success')
    expect(await stateNow()).toBe('available')
  })

  it.each([[{}], [{ status: 'done' }]])('refuses %j', async (body) => {
    const { id } = await deploy('refused-moves')
    expect((await ask('PUT', `/${id}`, body)).status).toBe(400)
  })
})

describe('GET', () => {
  const ids = async (query: string) =>
    (await ask('GET', `?${query}`, undefined, 'reporter')).body.map(({ id }: { id: number }) => id)

  it('lists by environment, status and time, in every order, with totals', async () => {
    const [a, b, c] = [await deploy('listed'), await deploy('listed'), await deploy('listed')]
    await move(b.id, 'success')
    await move(a.id, 'success')
    expect(await ids('environment=listed')).toEqual([a.id, b.id, c.id])
    expect(await ids('environment=listed&sort=desc&order_by=iid')).toEqual([c.id, b.id, a.id])
    expect(await ids('environment=listed&order_by=updated_at&sort=desc')).toEqual([a.id, b.id, c.id])
    expect(await ids('environment=listed&order_by=finished_at')).toEqual([b.id, a.id, c.id])
    expect(await ids('environment=listed&order_by=created_at&status=success')).toEqual([a.id, b.id])
    expect(await ids('environment=Listed')).toEqual([])
    expect(await ids('status=skipped')).toEqual([])
    const moved = (await ask('GET', `/${b.id}`)).body
    const between = `environment=listed&order_by=updated_at&updated_after=${moved.updated_at}`
    expect(await ids(between)).toEqual([a.id])
    const ended = `environment=listed&order_by=finished_at&status=success&finished_before=${moved.finished_at}`
    expect(await ids(ended)).toEqual([])
    const page = await ask('GET', '?environment=listed&per_page=2&page=2')
    expect([page.headers.get('X-Total'), page.body.length]).toEqual(['3', 1])
  })

  it.each([
    ['updated_after=2026-01-01', 'must be paired'],
    ['finished_after=2026-01-01', 'must be paired'],
    ['finished_before=2026-01-01&order_by=finished_at', 'must be combined'],
  ])('refuses %s', async (query, reason) => {
    const { status, body } = await ask('GET', `?${query}`)
    expect([status, body.message]).toEqual([400, expect.stringContaining(reason)])
  })

  it.each(['order_by=ref', 'sort=up', 'status=done', 'updated_after=yesterday'])(
    'refuses %s',
    async (query) => {
      expect((await ask('GET', `?${query}`)).status).toBe(400)
    },
  )
})

describe('the commits of a deployment', () => {
  const shas = async (id: number, query = '') => {
    const { body, headers } = await ask('GET', `/${id}/commits${query}`, undefined, 'reporter')
    return [headers.get('X-Total'), ...body.map((commit: { id: string }) => commit.id)]
  }

  it('are the commits since the last successful deployment before it', async () => {
    const first = await deploy('history', { sha: commits.first, status: 'success' })
    expect(await shas(first.id)).toEqual(['1', commits.first])
    const failed = await deploy('history', { sha: commits.second, status: 'failed' })
    expect(await shas(failed.id)).toEqual(['1', commits.second])
    const running = await deploy('history')
    expect(await shas(running.id)).toEqual(['2', commits.third, commits.second])
    expect(await shas(running.id, '?per_page=1&page=2')).toEqual(['2', commits.second])
    expect(await shas(running.id, '?page=99999999999')).toEqual(['2'])
    const elsewhere = await deploy('history-2', { status: 'success' })
    expect((await shas(elsewhere.id))[0]).toBe('3')
    await move(running.id, 'success')
    expect(await shas(running.id)).toEqual(['2', commits.third, commits.second])
    expect(await shas(first.id)).toEqual(['1', commits.first])
    const back = await deploy('history', { sha: commits.first, status: 'success' })
    expect(await shas(back.id)).toEqual(['0'])
  })

  it('stay known when the branch is gone, and have no merge requests', async () => {
    const { project: other, work } = await pushSample(harness)
    const sha = await work.commit({ branch: 'short' })
    await work.git('push', '--quiet', harness.remote('owner', other), 'short')
    const body = { environment: 'e', sha, ref: 'short', tag: false, status: 'success' }
    const at = `/projects/${other.id}/deployments`
    const { id } = (await harness.ask('developer', 'POST', at, body)).body
    await work.git('push', '--quiet', harness.remote('owner', other), ':short')
    await work.git('--git-dir', harness.pathOf(other), 'gc', '--quiet', '--prune=now')
    await work.close()
    const found = await harness.ask('reporter', 'GET', `${at}/${id}/commits`)
    expect(found.body[0]).toMatchObject({ id: sha })
    const requests = await harness.ask('reporter', 'GET', `${at}/${id}/merge_requests`)
    expect([requests.status, requests.body, requests.headers.get('X-Total')]).toEqual([200, [], '0'])
  })
})

describe('DELETE', () => {
  const remove = (id: number) => ask('DELETE', `/${id}`, undefined, 'owner')

  it('refuses a running deployment, and the current one of its environment', async () => {
    const old = await deploy('deleted', { status: 'success', sha: commits.first })
    const running = await deploy('deleted')
    const last = await deploy('deleted', { status: 'success' })
    expect(await remove(running.id)).toMatchObject({
      status: 400,
      body: { message: 'Cannot destroy running deployment' },
    })
    expect(await remove(last.id)).toMatchObject({
      status: 400,
      body: { message: 'Deployment currently deployed to environment' },
    })
    expect((await remove(old.id)).status).toBe(204)
    await move(running.id, 'canceled')
    expect((await remove(running.id)).status).toBe(204)
    expect((await deploy('deleted', { status: 'failed' })).iid).toBeGreaterThan(last.iid)
  })

  it('needs a maintainer', async () => {
    const { id } = await deploy('guarded', { status: 'failed' })
    expect((await ask('DELETE', `/${id}`)).status).toBe(403)
    expect((await ask('DELETE', `/${id}`, undefined, 'stranger')).status).toBe(404)
    expect((await harness.ask('anonymous', 'DELETE', `${path}/${id}`)).status).toBe(401)
  })
})

it('answers 404 for a deployment that the project does not have', async () => {
  const other = await harness.project()
  const { id } = await deploy('hidden')
  for (const [method, rest] of [
    ['GET', ''],
    ['PUT', ''],
    ['DELETE', ''],
    ['GET', '/commits'],
    ['GET', '/merge_requests'],
  ]) {
    const body = method === 'PUT' ? { status: 'failed' } : undefined
    const elsewhere = `/projects/${other.id}/deployments/${id}${rest}`
    const answer = await harness.ask('owner', method as string, elsewhere, body)
    expect([method, rest, answer.status, answer.body.message]).toEqual([method, rest, 404, '404 Not found'])
  }
  expect((await ask('GET', '/99999999999')).status).toBe(400)
})

it('every initial status can begin a deployment', async () => {
  for (const status of deploymentStatuses) {
    expect(await deploy(`begins-${status}`, { status })).toMatchObject({ status })
  }
})

it('webhooks receive a new deployment and each new status once', async () => {
  const hooks = `/projects/${project.id}/hooks`
  const fields = { url: 'https://ci.example.com/hook', push_events: false, deployment_events: true }
  const hook = (await harness.ask('owner', 'POST', hooks, fields)).body
  expect(hook.deployment_events).toBe(true)
  const deployment = await deploy('review/hooks', { status: 'created', saga_id: '42' })
  for (const status of ['running', 'running', 'success', 'success', 'failed'])
    await move(deployment.id, status)
  await deploy('review/hooks', { status: 'success' })
  const deliveries = `${hooks}/${hook.id}/deliveries`
  const listed = (await harness.ask('owner', 'GET', deliveries)).body as { id: string }[]
  const told = await Promise.all(
    listed.map(async ({ id }) => (await harness.ask('owner', 'GET', `${deliveries}/${id}`)).body),
  )
  const bodies = told.map(({ request_body }) => JSON.parse(request_body))
  expect(bodies.map(({ status }) => status).sort()).toEqual(['created', 'running', 'success'])
  expect(told[0].request_headers).toMatchObject({ 'X-Gitlab-Event': 'Deployment Hook' })
  expect(bodies.find(({ status }) => status === 'created')).toEqual({
    object_kind: 'deployment',
    status: 'created',
    status_changed_at: deployment.created_at,
    deployment_id: deployment.id,
    deployable_id: null,
    deployable_url: null,
    environment: 'review/hooks',
    environment_tier: 'development',
    environment_slug: expect.stringMatching(/^review-hooks-/),
    environment_external_url: null,
    project: expect.objectContaining({ path_with_namespace: project.pathWithNamespace }),
    ref: 'main',
    short_sha: commits.third.slice(0, 8),
    user: expect.objectContaining({ username: 'dora' }),
    user_url: `${harness.baseUrl}/dora`,
    commit_url: `${harness.baseUrl}/${project.pathWithNamespace}/-/commit/${commits.third}`,
    commit_title: expect.any(String),
    frozen: false,
    saga_id: '42',
    saga_tenant: 'default',
  })
})
