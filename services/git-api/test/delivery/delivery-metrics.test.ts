import type { Project } from '@switchyard/db'
import { createToken, waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
let ids: number[]

const hour = 3600
const day = 24 * hour
/** Seconds from the author date of the sample's first commit to the first deployment. */
const firstLead = (Date.parse('2026-02-02T00:00:00Z') - Date.parse('2026-01-01T04:30:00Z')) / 1000

/** Deployments of the sample's commits with their end times, in this order. */
const deployed = [
  ['first', '2026-02-02T00:00:00Z', 'production'],
  ['third', '2026-02-03T00:00:00Z', 'production'],
  // Deploys the first commit again, and then a newer one.
  ['first', '2026-02-03T06:00:00Z', 'production'],
  ['third', '2026-02-10T00:00:00Z', 'production'],
  ['side', '2026-02-11T00:00:00Z', 'qa'],
] as const

beforeAll(async () => {
  harness = await startGitHarness()
  const sample = await pushSample(harness)
  await sample.work.close()
  project = sample.project
  const { prisma } = harness.database
  const deploy = async ([commit, finishedAt, environment]: (typeof deployed)[number]) => {
    const given = { environment, sha: sample.commits[commit], ref: 'main', tag: false, status: 'running' }
    const { body } = await harness.ask('developer', 'POST', `/projects/${project.id}/deployments`, given)
    await prisma.deployment.update({
      where: { projectId_id: { projectId: project.id, id: body.id } },
      data: { status: 'success', createdAt: finishedAt, finishedAt },
    })
    return body.id as number
  }
  ids = []
  for (const each of deployed) ids.push(await deploy(each))
  const noted = ids.map((deploymentId) => ({ projectId: project.id, deploymentId }))
  await prisma.deploymentChange.createMany({ data: noted, skipDuplicates: true })
  await waitFor(
    async () => (await prisma.deploymentChange.count({ where: { NOT: { dueAt: null } } })) === 0,
    {
      what: 'deployments to be measured',
    },
  )
})
afterAll(() => harness?.close())

type Who = Parameters<GitHarness['ask']>[0]
const february = 'start_date=2026-02-01&end_date=2026-02-28'
const metric = (name: string, query = '', who: Who = 'reporter') =>
  harness.ask(who, 'GET', `/projects/${project.id}/dora/metrics?metric=${name}&${february}${query}`)
const wholeOf = async (name: string, query = '') =>
  (await metric(name, `&interval=all${query}`)).body[0].value

/** Stores a finding of the worker about one of the deployments. */
const found = (index: number, changePointAt: string, tenant = 'default') =>
  harness.database.prisma.deploymentFinding.create({
    data: {
      projectId: project.id,
      deploymentId: ids[index] as number,
      tenant,
      serviceName: 'billing',
      measure: 'failures',
      before: 0,
      after: 0.5,
      samplesBefore: 100,
      samplesAfter: 100,
      pValue: 1e-9,
      changePointAt,
      foundAt: changePointAt,
    },
  })

describe('the measurement of a deployment', () => {
  it('counts each commit once, for the first deployment only its own commit, and finds the rolled-back deployment', async () => {
    const changes = await harness.database.prisma.deploymentChange.findMany({
      orderBy: { deploymentId: 'asc' },
    })
    expect(
      changes.map(({ commits, leadSeconds, rollsBackId }) => [commits, leadSeconds, rollsBackId]),
    ).toEqual([
      [1, [firstLead], null],
      [2, [30 * day, 32 * day], null],
      [0, [], ids[1]],
      [0, [], null],
      [1, [expect.any(Number)], null],
    ])
  })

  it('is enqueued at the moment of success', async () => {
    const given = { environment: 'review/a', sha: 'main', ref: 'main', tag: false, status: 'success' }
    const { body } = await harness.ask('developer', 'POST', `/projects/${project.id}/deployments`, given)
    const key = { projectId: project.id, deploymentId: body.id }
    expect(await harness.database.prisma.deploymentChange.count({ where: key })).toBe(1)
  })
})

describe('the delivery metrics', () => {
  it('count deployments by day, week and month, in the shape of GitLab', async () => {
    const { status, body } = await metric('deployment_frequency')
    expect(status).toBe(200)
    expect(body).toHaveLength(28)
    expect(body.slice(0, 3)).toEqual([
      { date: '2026-02-01', value: 0 },
      { date: '2026-02-02', value: 1 },
      { date: '2026-02-03', value: 2 },
    ])
    expect((await metric('deployment_frequency', '&interval=weekly')).body.slice(0, 3)).toEqual([
      { date: '2026-01-26', value: 0 },
      { date: '2026-02-02', value: 3 },
      { date: '2026-02-09', value: 1 },
    ])
    expect((await metric('deployment_frequency', '&interval=monthly')).body).toEqual([
      { date: '2026-02-01', value: 4 },
    ])
  })

  it('are about production, about the requested tiers, or about one environment', async () => {
    const frequency = (query: string) => wholeOf('deployment_frequency', query)
    expect(await frequency('')).toBe(4)
    expect(await frequency('&environment_tiers[]=testing')).toBe(1)
    expect(await frequency('&environment_tiers[]=testing&environment_tiers[]=production')).toBe(5)
    expect(await frequency('&environment_tiers=testing,production')).toBe(5)
    expect(await frequency('&environment=qa')).toBe(1)
    expect(await frequency('&environment=qa&environment_tiers[]=production')).toBe(0)
  })

  it('contain the median lead time of commits', async () => {
    const { body } = await metric('lead_time_for_changes', '&interval=weekly')
    expect(body.map(({ value }: { value: number | null }) => value)).toEqual([
      null,
      firstLead,
      null,
      null,
      null,
    ])
  })

  it('count rolled-back deployments, and the time until the rollback', async () => {
    expect(await wholeOf('change_failure_rate')).toBe(1 / 4)
    expect(await wholeOf('time_to_restore_service')).toBe(6 * hour)
    expect((await metric('time_to_restore_service', '&interval=weekly')).body[1]).toEqual({
      date: '2026-02-02',
      value: 6 * hour,
    })
  })

  it('count findings that nobody dismissed, from when they began', async () => {
    const { prisma } = harness.database
    await found(0, '2026-02-02T00:10:00Z', 'acme')
    expect(await wholeOf('change_failure_rate')).toBe(2 / 4)
    expect(await wholeOf('time_to_restore_service')).toBe(6 * hour)
    const key = { projectId: project.id, deploymentId: ids[0] as number }
    await prisma.deploymentDismissal.create({ data: { ...key, reason: 'The bank was down' } })
    expect(await wholeOf('change_failure_rate')).toBe(1 / 4)
    await prisma.deploymentDismissal.deleteMany()
    // The figure recovered before the next deployment.
    await prisma.deploymentFinding.updateMany({ data: { recoveredAt: '2026-02-02T01:10:00Z' } })
    expect(await wholeOf('time_to_restore_service')).toBe(hour)
    await prisma.deploymentFinding.deleteMany()
  })

  it('exclude findings of other tenants for a token that is bound to tenants', async () => {
    await found(0, '2026-02-02T00:10:00Z', 'acme')
    const user = await harness.database.prisma.user.findUniqueOrThrow({ where: { usernameKey: 'olga' } })
    const { secret } = await createToken(harness.database, user, { tenants: ['other'] })
    const path = `/projects/${project.id}/dora/metrics?metric=change_failure_rate&interval=all&${february}`
    const answer = await fetch(`${harness.baseUrl}/api/v4${path}`, { headers: { 'PRIVATE-TOKEN': secret } })
    expect(await answer.json()).toEqual([{ date: null, value: 1 / 4 }])
    await harness.database.prisma.deploymentFinding.deleteMany()
  })

  it.each([
    ['', 'metric is missing'],
    ['metric=speed', 'metric does not have a valid value'],
    ['metric=change_failure_rate&interval=hourly', 'interval does not have a valid value'],
    [
      'metric=change_failure_rate&environment_tiers[]=moon',
      'environment_tiers[0] does not have a valid value',
    ],
    ['metric=change_failure_rate&start_date=2026-02-30', 'start_date is invalid'],
    ['metric=change_failure_rate&environment=%00', 'environment is invalid'],
  ])('are refused for %s', async (query, error) => {
    const { status, body } = await harness.ask(
      'reporter',
      'GET',
      `/projects/${project.id}/dora/metrics?${query}`,
    )
    expect([status, body.error]).toEqual([400, expect.stringContaining(error)])
  })

  it.each([
    ['start_date=2026-02-02&end_date=2026-02-01', /^The start date/],
    ['start_date=2024-01-01&end_date=2026-01-01', /^Date range/],
    ['start_date=0000-01-01&end_date=9999-12-31', /^Date range/],
  ])('are refused for %s', async (query, message) => {
    const path = `/projects/${project.id}/dora/metrics?metric=change_failure_rate&${query}`
    const { status, body } = await harness.ask('reporter', 'GET', path)
    expect([status, body.message]).toEqual([400, expect.stringMatching(message)])
  })

  it('are answered at both ends of the calendar', async () => {
    for (const year of ['0000', '9999']) {
      const path = `/projects/${project.id}/dora/metrics?metric=time_to_restore_service&interval=monthly`
      const { body } = await harness.ask(
        'reporter',
        'GET',
        `${path}&start_date=${year}-12-30&end_date=${year}-12-31`,
      )
      expect(body).toEqual([{ date: `${year}-12-01`, value: null }])
    }
  })

  it('are refused to strangers, guests and callers without a token', async () => {
    const answers = (['anonymous', 'stranger', 'guest'] as const).map((who) =>
      metric('change_failure_rate', '', who),
    )
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([401, 404, 403])
  })
})

describe('a badge', () => {
  const badge = async (query: string, who: Who = 'reporter') => {
    const answer = await harness.send(who, 'GET', `/projects/${project.id}/dora/badge?${query}`)
    return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() }
  }

  it('shows a metric of the last four weeks, and escapes its key', async () => {
    const { status, type, text } = await badge(
      'metric=deployment_frequency&environment=review/a&key_text=<b>',
    )
    expect([status, type]).toEqual([200, expect.stringMatching('^image/svg')])
    expect(text).toContain('aria-label="&lt;b&gt;: 0.25 a week"')
    expect((await badge('metric=change_failure_rate&environment=none')).text).toContain(
      'aria-label="change failures: unknown"',
    )
  })

  it('is refused to the same callers as the metrics', async () => {
    expect((await badge('metric=speed')).status).toBe(400)
    const misspelt = await badge('metric=deployment_frequency&enviroment=production')
    expect([misspelt.status, misspelt.text]).toEqual([400, expect.stringContaining('enviroment is not')])
    expect((await badge('metric=change_failure_rate', 'guest')).status).toBe(403)
  })
})

it('the metrics endpoint exports the metrics of production', async () => {
  const { body } = await harness.ask('developer', 'POST', `/projects/${project.id}/deployments`, {
    environment: 'live',
    sha: 'main',
    ref: 'main',
    tag: false,
    status: 'success',
  })
  const baseUrl = await harness.start()
  const shown = await waitFor(
    async () => {
      const page = await (await fetch(`${baseUrl}/metrics`)).text()
      return /^delivery_deployments\{.*$/m.exec(page)?.[0]
    },
    { what: 'the figures of deliveries' },
  )
  expect(shown).toContain(`{project="${project.pathWithNamespace}"`)
  expect(shown).toMatch(/ 1$/)
  const where = { projectId_id: { projectId: project.id, id: body.id } }
  await harness.database.prisma.deployment.delete({ where })
})

describe('the delivery metrics of all projects', () => {
  const list = (query: string, who: Who = 'reporter') =>
    harness.ask(who, 'GET', `/delivery_metrics?${february}${query}`)

  it('contain each project that was deployed', async () => {
    const { status, body } = await list('')
    expect(status).toBe(200)
    expect(body).toEqual([
      {
        project: { id: project.id, path_with_namespace: project.pathWithNamespace },
        deployment_frequency: 4,
        lead_time_for_changes: firstLead,
        time_to_restore_service: 6 * hour,
        change_failure_rate: 1 / 4,
      },
    ])
    expect((await list('&environment_tiers[]=staging')).body).toEqual([])
  })

  it('are shown only to callers who may read the deployments', async () => {
    const lengths = (['stranger', 'guest', 'owner'] as const).map(
      async (who) => (await list('', who)).body.length,
    )
    expect(await Promise.all(lengths)).toEqual([0, 0, 1])
    expect((await list('', 'anonymous')).status).toBe(401)
    const path = '/delivery_metrics?start_date=2025-11-01&end_date=2026-02-28'
    const { status, body } = await harness.ask('reporter', 'GET', path)
    expect([status, body.message]).toEqual([400, 'Date range must not be longer than 92 days.'])
  })
})

describe('a change failure', () => {
  const failure = (index: number, method = 'GET', body?: object, who: Who = 'developer') =>
    harness.ask(
      who,
      method,
      `/projects/${project.id}/deployments/${ids[index] ?? 999_999}/change_failure`,
      body,
    )

  it('is shown with its reasons and its duration', async () => {
    expect((await failure(1, 'GET', undefined, 'reporter')).body).toEqual({
      failed: true,
      reasons: ['rolled_back'],
      failed_at: '2026-02-03T00:00:00.000Z',
      restored_at: '2026-02-03T06:00:00.000Z',
      report: null,
    })
    expect((await failure(0)).body).toMatchObject({ failed: false, reasons: [], failed_at: null })
  })

  it('can be reported by a person, in the audit log, until the report is removed', async () => {
    const said = await failure(3, 'POST', { reason: 'Invoices were empty' })
    expect(said).toMatchObject({
      status: 201,
      body: { reason: 'Invoices were empty', user: { username: 'dora' } },
    })
    expect((await failure(3)).body).toMatchObject({
      failed: true,
      reasons: ['reported'],
      failed_at: '2026-02-10T00:00:00.000Z',
      restored_at: null,
    })
    expect(await wholeOf('change_failure_rate')).toBe(2 / 4)
    expect((await failure(3, 'DELETE')).status).toBe(204)
    expect((await failure(3, 'DELETE')).status).toBe(404)
    expect(await wholeOf('change_failure_rate')).toBe(1 / 4)
    const entries = await harness.database.prisma.auditEvent.findMany({
      where: { eventName: { startsWith: 'change_failure' } },
      orderBy: { id: 'asc' },
    })
    expect(entries.map(({ eventName, details }) => [eventName, details])).toEqual([
      [
        'change_failure_reported',
        expect.objectContaining({ deployment_id: ids[3], reason: 'Invoices were empty' }),
      ],
      ['change_failure_withdrawn', expect.objectContaining({ deployment_id: ids[3] })],
    ])
  })

  it('needs a reason, and an ended deployment', async () => {
    expect(await failure(3, 'POST', { reason: ' ' })).toMatchObject({
      status: 400,
      body: { error: 'reason is empty' },
    })
    const where = { projectId_id: { projectId: project.id, id: ids[4] as number } }
    await harness.database.prisma.deployment.update({ where, data: { status: 'canceled' } })
    expect(await failure(4, 'POST', { reason: 'No' })).toMatchObject({
      status: 400,
      body: { message: 'A deployment that is canceled cannot be a failed change' },
    })
  })

  it('is refused to callers who may not read or deploy, and is 404 without a deployment', async () => {
    const statuses = (method: string, body?: object) =>
      Promise.all(
        (['anonymous', 'stranger', 'guest', 'reporter'] as const).map(
          async (who) => (await failure(0, method, body, who)).status,
        ),
      )
    expect(await statuses('GET')).toEqual([401, 404, 403, 200])
    expect(await statuses('POST', { reason: 'No' })).toEqual([401, 404, 403, 403])
    expect(await statuses('DELETE')).toEqual([401, 404, 403, 403])
    expect((await failure(-1)).status).toBe(404)
    expect((await failure(-1, 'POST', { reason: 'No' })).status).toBe(404)
  })
})
