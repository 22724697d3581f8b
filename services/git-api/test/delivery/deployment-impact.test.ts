import { Prisma, type Project } from '@switchyard/db'
import { createToken } from '@switchyard/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
let sha: string

beforeAll(async () => {
  harness = await startGitHarness()
  const sample = await pushSample(harness)
  await sample.work.close()
  project = sample.project
  sha = sample.commits.third
})
afterAll(() => harness?.close())
beforeEach(async () => {
  await harness.database.prisma.deployment.deleteMany()
})

type Who = Parameters<GitHarness['ask']>[0]
const minute = 60_000
const ago = (minutes: number) => new Date(Date.now() - minutes * minute)

/** Records a deployment of billing that ended that many minutes ago. */
async function deployed(minutes: number, fields: object = {}): Promise<number> {
  const given = { environment: 'production', sha, ref: 'main', tag: false, status: 'running' }
  const { body } = await harness.ask('developer', 'POST', `/projects/${project.id}/deployments`, {
    ...given,
    services: ['billing'],
    ...fields,
  })
  const progress = { status: 'success', createdAt: ago(minutes + 2), finishedAt: ago(minutes) }
  const where = { projectId_id: { projectId: project.id, id: body.id } }
  await harness.database.prisma.deployment.update({ where, data: progress })
  return body.id
}

const window = (failed: number) => ({
  sagas: 120,
  failed,
  compensated: 0,
  stuck: 0,
  timed: 120 - failed,
  durationP50: 3,
  durationP95: 4,
})

const queueWindow = (latency: number) => ({
  samples: 60,
  latencyP50: latency,
  latencyP95: latency + 1,
  jobs: 600,
  failedJobs: 6,
})

/** Stores the comparison of a deployment as the worker does. */
async function compared(deploymentId: number, tenants: string[], nextLookAt: Date | null = null) {
  const [before, after] = [queueWindow(1), queueWindow(9)]
  const queues = [{ service: 'billing', before, after, commonCause: false }]
  const { prisma } = harness.database
  const key = { projectId: project.id, deploymentId }
  const services = tenants.map((tenant) => ({
    tenant,
    service: 'billing',
    before: window(1),
    after: window(30),
    newFailures: [{ fingerprint: 'f1', sagas: 30, firstAt: ago(28).getTime() }],
    commonCause: false,
  }))
  const times = { windowFrom: ago(92), startedAt: ago(32), windowTo: ago(0), nextLookAt }
  await prisma.deploymentImpact.create({ data: { ...key, ...times, services, queues } })
  const figures = { before: 1 / 120, after: 0.25, samplesBefore: 120, samplesAfter: 120, pValue: 1e-6 }
  const found = { ...key, ...figures, serviceName: 'billing', changePointAt: ago(27), foundAt: ago(25) }
  for (const tenant of tenants)
    await prisma.deploymentFinding.createMany({
      data: [
        { ...found, tenant, measure: 'failures' },
        { ...found, tenant, measure: 'new_failure', fingerprint: 'f1' },
      ],
    })
}

/** Stores a finding about queues as the worker does. */
const slowQueue = (deploymentId: number) =>
  harness.database.prisma.deploymentFinding.create({
    data: {
      projectId: project.id,
      deploymentId,
      tenant: '',
      serviceName: 'billing',
      measure: 'queue_latency',
      before: 1,
      after: 9,
      samplesBefore: 60,
      samplesAfter: 60,
      pValue: 1e-9,
      changePointAt: ago(28),
      foundAt: ago(25),
    },
  })

const impactOf = (id: number, who: Who = 'reporter') =>
  harness.ask(who, 'GET', `/projects/${project.id}/deployments/${id}/impact`)
const dismissal = (id: number, method: string, body?: object, who: Who = 'developer') =>
  harness.ask(who, method, `/projects/${project.id}/deployments/${id}/impact/dismissal`, body)

describe('the impact of a deployment', () => {
  it('has both windows with their counts, and each finding with its confidence and its test', async () => {
    const id = await deployed(30)
    await compared(id, ['default'])
    const { status, body } = await impactOf(id)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      state: 'found',
      complete: true,
      concurrent_deployments: [],
      concurrent_elsewhere: 0,
      dismissal: null,
      services: [
        {
          service_name: 'billing',
          tenant: 'default',
          common_cause: false,
          before: { sagas: 120, failed: 1, timed_sagas: 119, duration_p50: 3 },
          after: { sagas: 120, failed: 30 },
          new_failures: [{ fingerprint: 'f1', sagas: 30 }],
          findings: [
            {
              measure: 'failures',
              fingerprint: null,
              samples_before: 120,
              samples_after: 120,
              chance: 1e-6,
              confidence: 1 - 1e-6,
              test: "Fisher's exact test",
            },
            { measure: 'new_failure', fingerprint: 'f1' },
          ],
        },
      ],
    })
    expect(body.before.to).toBe(body.after.from)
  })

  it('is pending before the comparison and while its window grows, and not_compared where no comparison is possible', async () => {
    const [young, growing, old, without] = [
      await deployed(1),
      await deployed(5),
      await deployed(600),
      await deployed(1, { services: [] }),
    ]
    await compared(growing, [], ago(-5))
    const states = await Promise.all([young, growing, old, without].map((id) => impactOf(id)))
    expect(states.map(({ body }) => body.state)).toEqual([
      'pending',
      'pending',
      'not_compared',
      'not_compared',
    ])
    const full = await deployed(90)
    await compared(full, [])
    expect((await impactOf(full)).body).toMatchObject({ state: 'none', complete: true, services: [] })
  })

  it('lists the concurrent deployments of the same services', async () => {
    const id = await deployed(30)
    const beside = await deployed(25, { services: ['mail', 'billing'] })
    await deployed(25, { services: ['mail'] })
    await deployed(90)
    const { body } = await impactOf(id)
    expect(body.concurrent_deployments.map((each: { id: number }) => each.id)).toEqual([beside])
  })

  it('has the figures of queues, which belong to no tenant, or says that queues were not compared', async () => {
    const id = await deployed(30)
    await compared(id, [])
    await slowQueue(id)
    expect((await impactOf(id)).body).toMatchObject({
      state: 'found',
      services: [],
      queues_compared: true,
      queues: [
        {
          service_name: 'billing',
          common_cause: false,
          before: { samples: 60, latency_p50: 1, latency_p95: 2, jobs: 600, failed_jobs: 6 },
          after: { latency_p50: 9 },
          findings: [{ measure: 'queue_latency', before: 1, after: 9, test: 'Brunner-Munzel test' }],
        },
      ],
    })
    const { body } = await harness.ask('reporter', 'GET', '/deployment_impacts?service_name=billing')
    expect(body).toMatchObject([{ measure: 'queue_latency', tenant: null, deployment: { id } }])
    const where = { projectId_deploymentId: { projectId: project.id, deploymentId: id } }
    await harness.database.prisma.deploymentImpact.update({ where, data: { queues: Prisma.DbNull } })
    expect((await impactOf(id)).body).toMatchObject({ queues_compared: false, queues: [] })
  })

  it('excludes other tenants and queues for a token that is bound to tenants', async () => {
    const id = await deployed(30)
    await compared(id, ['default', 'acme'])
    await slowQueue(id)
    const user = await harness.database.prisma.user.findUniqueOrThrow({ where: { usernameKey: 'olga' } })
    const { secret } = await createToken(harness.database, user, { tenants: ['acme'] })
    const headers = { 'PRIVATE-TOKEN': secret }
    const ask = async (path: string) =>
      JSON.parse(await (await fetch(`${harness.baseUrl}/api/v4${path}`, { headers })).text())
    const tenantsOf = (items: { tenant: string }[]) => items.map(({ tenant }) => tenant)
    const impact = await ask(`/projects/${project.id}/deployments/${id}/impact`)
    expect(tenantsOf(impact.services)).toEqual(['acme'])
    expect(impact.queues).toEqual([])
    expect(tenantsOf(await ask('/deployment_impacts'))).toEqual(['acme', 'acme'])
    expect(tenantsOf((await ask('/deployments'))[0].findings)).toEqual(['acme', 'acme'])
    expect(await ask('/deployment_impacts?tenant=default')).toMatchObject({ message: /bound to tenant acme/ })
  })

  it('is refused to strangers, guests and callers without a token, and is 404 without a deployment', async () => {
    const id = await deployed(30)
    const answers = await Promise.all(
      (['anonymous', 'stranger', 'guest'] as const).map((who) => impactOf(id, who)),
    )
    expect(answers.map(({ status }) => status)).toEqual([401, 404, 403])
    expect((await impactOf(id + 1)).status).toBe(404)
    expect((await harness.ask('owner', 'GET', `/projects/${project.id}/deployments/x/impact`)).status).toBe(
      400,
    )
  })
})

describe('the dismissal of a deployment', () => {
  it('is stored with the reason and in the audit log, until it is removed', async () => {
    const id = await deployed(30)
    expect(await dismissal(id, 'POST', { reason: 'In advance' })).toMatchObject({
      status: 409,
      body: { message: 'There is nothing to dismiss: nothing was found about the deployment' },
    })
    await compared(id, ['default'])
    const said = await dismissal(id, 'POST', { reason: 'The bank was down' })
    expect(said).toMatchObject({
      status: 201,
      body: { reason: 'The bank was down', user: { username: 'dora' } },
    })
    expect((await dismissal(id, 'POST', { reason: 'Its network was' })).status).toBe(201)
    expect((await impactOf(id)).body).toMatchObject({
      state: 'dismissed',
      dismissal: { reason: 'Its network was' },
    })
    expect((await harness.ask('developer', 'GET', '/deployment_impacts')).body[0].dismissed).toBe(true)
    expect((await dismissal(id, 'DELETE')).status).toBe(204)
    expect((await impactOf(id)).body).toMatchObject({ state: 'found', dismissal: null })
    expect((await dismissal(id, 'DELETE')).status).toBe(404)
    const entries = await harness.database.prisma.auditEvent.findMany({
      where: { eventName: { startsWith: 'deployment_impact' } },
      orderBy: { id: 'asc' },
    })
    expect(
      entries.map(({ eventName, details }) => [eventName, (details as { reason?: string }).reason]),
    ).toEqual([
      ['deployment_impact_dismissed', 'The bank was down'],
      ['deployment_impact_dismissed', 'Its network was'],
      ['deployment_impact_restored', undefined],
    ])
  })

  it.each([
    [{}, 'reason is missing'],
    [{ reason: ' ' }, 'reason is empty'],
    [{ reason: 'The bank', who: 'me' }, 'who is not a parameter'],
    [{ reason: 'x'.repeat(1001) }, 'reason is too long (maximum is 1000 characters)'],
  ])('needs a reason: %j', async (body, error) => {
    expect(await dismissal(await deployed(30), 'POST', body)).toMatchObject({ status: 400, body: { error } })
  })

  it('is refused to callers who may not deploy, and is 404 without a deployment', async () => {
    const id = await deployed(30)
    for (const method of ['POST', 'DELETE']) {
      const asked = (['anonymous', 'stranger', 'reporter'] as const).map((who) =>
        dismissal(id, method, { reason: 'No' }, who),
      )
      expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([401, 404, 403])
      expect((await dismissal(id + 1, method, { reason: 'No' })).status).toBe(404)
    }
  })
})

it('a test of an impact webhook sends the newest impact', async () => {
  const hooks = `/projects/${project.id}/hooks`
  const fields = { url: 'https://ci.example.com/hook', deployment_impact_events: true }
  const { body: hook } = await harness.ask('owner', 'POST', hooks, fields)
  expect(hook.deployment_impact_events).toBe(true)
  const test = () => harness.ask('owner', 'POST', `${hooks}/${hook.id}/test/deployment_impact_events`)
  expect((await test()).status).toBe(400)
  const id = await deployed(30)
  await compared(id, ['default'])
  expect((await test()).status).toBe(201)
  const [delivery] = await harness.database.prisma.webhookDelivery.findMany({ where: { webhookId: hook.id } })
  expect(JSON.parse(delivery?.payload ?? '')).toMatchObject({
    object_kind: 'deployment_impact',
    deployment_id: id,
    console_url: expect.stringMatching(new RegExp(`/deployments/${id}$`)),
    findings: [{ measure: 'failures', samples_after: 120, chance: 1e-6 }, { fingerprint: 'f1' }],
  })
})

describe('the deployments of all projects', () => {
  const list = (query = '', who: Who = 'reporter') => harness.ask(who, 'GET', `/deployments${query}`)
  const idsOf = async (query: string, who?: Who) =>
    (await list(query, who)).body.map(({ id }: { id: number }) => id)

  it('contain those that ended in a time, the latest first, with their findings', async () => {
    const [worse, later, old] = [
      await deployed(30),
      await deployed(10, { environment: 'staging' }),
      await deployed(2000),
    ]
    await compared(worse, ['default'])
    await dismissal(worse, 'POST', { reason: 'The bank was down' })
    const { body, status } = await list()
    expect(status).toBe(200)
    expect(body).toMatchObject([
      { id: later, tier: 'staging', status: 'success', findings: [], dismissed: false },
      {
        id: worse,
        tier: 'production',
        environment: { name: 'production' },
        project: { id: project.id, path_with_namespace: project.pathWithNamespace },
        dismissed: true,
        findings: [
          { service_name: 'billing', tenant: 'default', measure: 'failures' },
          { service_name: 'billing', tenant: 'default', measure: 'new_failure' },
        ],
      },
    ])
    expect(await idsOf(`?finished_after=${ago(3000).toISOString()}`)).toEqual([later, worse, old])
    expect(await idsOf(`?finished_before=${ago(20).toISOString()}`)).toEqual([worse])
  })

  it('contain only ended ones that the caller may read', async () => {
    const ended = await deployed(30)
    const given = { environment: 'production', sha, ref: 'main', tag: false, status: 'running' }
    await harness.ask('developer', 'POST', `/projects/${project.id}/deployments`, given)
    for (const who of ['reporter', 'owner'] as const) expect(await idsOf('', who)).toEqual([ended])
    for (const who of ['guest', 'stranger'] as const) expect(await idsOf('', who)).toEqual([])
    expect((await list('', 'anonymous')).status).toBe(401)
    expect((await list('?finished_after=soon')).status).toBe(400)
  })
})

describe('the list of findings', () => {
  const list = (query: string, who: Who = 'reporter') =>
    harness.ask(who, 'GET', `/deployment_impacts${query}`)

  it('is filtered by fingerprint, service and time', async () => {
    const id = await deployed(30)
    await compared(id, ['default'])
    const { body, status } = await list('?fingerprint=f1')
    expect(status).toBe(200)
    expect(body).toMatchObject([
      {
        measure: 'new_failure',
        service_name: 'billing',
        project: { id: project.id, path_with_namespace: project.pathWithNamespace },
        deployment: { id, sha, user: { username: 'dora' }, environment: { name: 'production' } },
        dismissed: false,
      },
    ])
    expect((await list('?service_name=billing')).body).toHaveLength(2)
    expect((await list('?service_name=mail')).body).toEqual([])
    expect((await list(`?began_after=${ago(5).toISOString()}`)).body).toEqual([])
    expect((await list('?tenant=other')).body).toEqual([])
  })

  it('contains only findings of deployments that the caller may read', async () => {
    await compared(await deployed(30), ['default'])
    const counts = (['stranger', 'guest', 'developer', 'owner'] as const).map((who) => list('', who))
    expect((await Promise.all(counts)).map(({ body }) => body.length)).toEqual([0, 0, 2, 2])
    expect((await list('', 'anonymous')).status).toBe(401)
    expect((await list('?began_after=soon')).status).toBe(400)
    expect(await list('?service=billing')).toMatchObject({
      status: 400,
      body: { error: 'service is not a parameter' },
    })
  })
})
