import type { Project } from '@switchyard/db'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
let path: string

beforeAll(async () => {
  harness = await startGitHarness()
  const sample = await pushSample(harness)
  await sample.work.close()
  ;({ project } = sample)
  path = `/projects/${project.id}/freeze_periods`
})
afterAll(() => harness?.close())

const ask = (method: string, rest = '', body?: unknown, who: keyof GitHarness['tokens'] = 'owner') =>
  harness.ask(who, method, `${path}${rest}`, body)
const weekend = { freeze_start: '0 23 * * 5', freeze_end: '0 8 * * 1', cron_timezone: 'Europe/Berlin' }

const deploy = (fields: object = {}) =>
  harness.ask('developer', 'POST', `/projects/${project.id}/deployments`, {
    environment: 'production',
    sha: 'main',
    ref: 'main',
    tag: false,
    status: 'running',
    ...fields,
  })

/** Returns the time in that many hours as fields of a UTC cron expression that matches once a year. */
function cronIn(hours: number): string {
  const at = new Date(Date.now() + hours * 3_600_000)
  return `${at.getUTCMinutes()} ${at.getUTCHours()} ${at.getUTCDate()} ${at.getUTCMonth() + 1} *`
}

it('freeze periods are added, listed, shown, changed and deleted, and the audit log records it', async () => {
  const added = await ask('POST', '', weekend)
  expect(added).toMatchObject({ status: 201 })
  expect(added.body).toEqual({
    id: expect.any(Number),
    ...weekend,
    created_at: expect.stringMatching(/Z$/),
    updated_at: added.body.created_at,
  })
  const { id } = added.body
  const other = await ask('POST', '', { ...weekend, cron_timezone: '' })
  expect(other.body.cron_timezone).toBe('UTC')
  const list = await ask('GET', '?per_page=1', undefined, 'reporter')
  expect([list.headers.get('X-Total'), list.body]).toEqual(['2', [added.body]])
  expect((await ask('GET', `/${id}`, undefined, 'reporter')).body).toEqual(added.body)
  const changed = await ask('PUT', `/${id}`, { freeze_end: '30 9 * * mon' })
  expect(changed).toMatchObject({ status: 200, body: { ...weekend, freeze_end: '30 9 * * mon' } })
  expect((await ask('PUT', `/${id}`, { freeze_end: '30 9 * * mon' })).body).toEqual(changed.body)
  for (const each of [id, other.body.id]) expect((await ask('DELETE', `/${each}`)).status).toBe(204)
  for (const method of ['GET', 'PUT', 'DELETE']) {
    expect(await ask(method, `/${id}`)).toMatchObject({ status: 404, body: { message: '404 Not found' } })
  }
  const events = await harness.database.prisma.auditEvent.findMany({ orderBy: { id: 'asc' } })
  expect(events.map(({ eventName }) => eventName).slice(-5)).toEqual([
    'freeze_period_created',
    'freeze_period_created',
    'freeze_period_changed',
    'freeze_period_removed',
    'freeze_period_removed',
  ])
})

it.each([
  [{ ...weekend, freeze_start: 'every day' }, { message: { freeze_start: ['syntax is invalid'] } }],
  [{ ...weekend, freeze_end: '0 0 31 2 *' }, { message: { freeze_end: ['syntax is invalid'] } }],
  [{ ...weekend, cron_timezone: 'Mars' }, { message: { cron_timezone: ['syntax is invalid'] } }],
  [{ freeze_start: ' ' }, { error: 'freeze_start is empty, freeze_end is missing' }],
])('refuses %j', async (fields, expected) => {
  expect(await ask('POST', '', fields)).toMatchObject({ status: 400, body: expected })
})

it('a deployment during a freeze period is marked, and refused only on request', async () => {
  expect((await deploy()).body.frozen).toBe(false)
  const { body: period } = await ask('POST', '', { freeze_start: cronIn(-2), freeze_end: cronIn(2) })
  const marked = await deploy()
  expect(marked).toMatchObject({ status: 201, body: { frozen: true } })
  const end = new Date(Date.now() + 2 * 3_600_000)
  end.setUTCSeconds(0, 0)
  const refused = await deploy({ enforce: true, environment: 'enforced' })
  const endText = refused.body.freeze_end_at
  expect(Math.abs(new Date(endText).getTime() - end.getTime())).toBeLessThanOrEqual(60_000)
  expect(refused).toMatchObject({
    status: 403,
    body: { message: `403 Forbidden - The project is frozen until ${endText}` },
  })
  const environments = await harness.ask(
    'reporter',
    'GET',
    `/projects/${project.id}/environments?name=enforced`,
  )
  expect(environments.body).toEqual([])
  // A deployment that ends during the freeze began before it, or was marked.
  const moved = `/projects/${project.id}/deployments/${marked.body.id}`
  expect((await harness.ask('developer', 'PUT', moved, { status: 'success' })).body.frozen).toBe(true)
  await ask('PUT', `/${period.id}`, { freeze_end: cronIn(-1) })
  expect(await deploy({ enforce: true })).toMatchObject({ status: 201, body: { frozen: false } })
  await ask('DELETE', `/${period.id}`)
})

it('reporters read and maintainers write freeze periods', async () => {
  const { body } = await ask('POST', '', weekend)
  const status = async (who: keyof GitHarness['tokens'] | 'anonymous', method: string, rest = '') =>
    (await harness.ask(who, method, `${path}${rest}`, method === 'GET' ? undefined : weekend)).status
  expect(await status('anonymous', 'GET')).toBe(401)
  expect(await status('stranger', 'GET')).toBe(404)
  expect(await status('guest', 'GET')).toBe(403)
  expect(await status('reporter', 'GET')).toBe(200)
  for (const [method, rest] of [
    ['POST', ''],
    ['PUT', `/${body.id}`],
    ['DELETE', `/${body.id}`],
  ] as const) {
    expect(await status('developer', method, rest)).toBe(403)
  }
})

describe('the freezes of all projects', () => {
  const list = (query = '', who: keyof GitHarness['tokens'] | 'anonymous' = 'reporter') =>
    harness.ask(who, 'GET', `/freezes${query}`)
  const inHours = (hours: number) =>
    encodeURIComponent(new Date(Date.now() + hours * 3_600_000).toISOString())

  it('are the freezes within a time, shown to callers who may read the deployments', async () => {
    const add = async (start: number, end: number): Promise<number> =>
      (await ask('POST', '', { freeze_start: cronIn(start), freeze_end: cronIn(end) })).body.id
    const [now, past, next] = [await add(-2, 2), await add(-5, -3), await add(5, 6)]
    const idsOf = async (query: string, who: keyof GitHarness['tokens'] = 'reporter') => {
      const { body } = await list(query, who)
      const ids = body.map((freeze: { freeze_period: { id: number } }) => freeze.freeze_period.id)
      return ids.filter((id: number) => [now, past, next].includes(id))
    }
    expect(await idsOf('')).toEqual([now, past])
    expect(await idsOf(`?ends_after=${inHours(-1)}`)).toEqual([now])
    expect(await idsOf(`?starts_before=${inHours(20)}`)).toEqual([next, now, past])
    const freeze = (await list()).body.find(
      (each: { freeze_period: { id: number } }) => each.freeze_period.id === now,
    )
    expect(freeze).toMatchObject({
      project: { id: project.id, path_with_namespace: project.pathWithNamespace },
      freeze_period: { id: now, cron_timezone: 'UTC' },
    })
    expect(Date.parse(freeze.ends_at) - Date.parse(freeze.starts_at)).toBe(4 * 3_600_000)
    expect([await idsOf('', 'guest'), await idsOf('', 'stranger')]).toEqual([[], []])
    for (const id of [now, past, next]) await ask('DELETE', `/${id}`)
  })

  it('are refused without a token, and for times that are not evaluated', async () => {
    expect((await list('', 'anonymous')).status).toBe(401)
    expect(await list(`?ends_after=${inHours(-49)}`)).toMatchObject({
      status: 400,
      body: { error: 'ends_after is more than two days ago' },
    })
    expect(await list(`?starts_before=${inHours(25)}`)).toMatchObject({
      status: 400,
      body: { error: 'starts_before is more than a day ahead' },
    })
    expect((await list('?ends_after=soon')).status).toBe(400)
  })
})

it('parallel changes of different fields are all kept', async () => {
  const { body: period } = await ask('POST', '', weekend)
  const changes = [{ freeze_start: '0 22 * * fri' }, { freeze_end: '30 9 * * mon' }]
  for (const { status } of await Promise.all(changes.map((change) => ask('PUT', `/${period.id}`, change))))
    expect(status).toBe(200)
  const { body: changed } = await ask('GET', `/${period.id}`)
  expect(changed).toMatchObject({ freeze_start: '0 22 * * fri', freeze_end: '30 9 * * mon' })
  expect((await ask('DELETE', `/${period.id}`)).status).toBe(204)
})

it('the freeze periods of a project are limited, even with parallel requests', async () => {
  const answers = await Promise.all(Array.from({ length: 25 }, () => ask('POST', '', weekend)))
  const refused = answers.filter(({ status }) => status === 400)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused[0]?.body.message).toBe('A project can have 20 freeze periods at most')
  expect((await ask('GET')).headers.get('X-Total')).toBe('20')
})
