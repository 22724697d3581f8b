import { packSample, type SeriesMetrics, seriesKey } from '@switchyard/contracts/jobs'
import { createRedis } from '@switchyard/service-kit/redis'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { findDeploymentImpact } from '../../src/deployments/impact.js'
import { noteRecoveries } from '../../src/deployments/recovery.js'
import { silent } from '../harness.js'
import { ago, minute, now, settings, startDeploymentsHarness } from './deployments-harness.js'

let harness: Awaited<ReturnType<typeof startDeploymentsHarness>>
beforeAll(async () => {
  harness = await startDeploymentsHarness()
})
beforeEach(() => harness.clear())
afterAll(() => harness?.close())

interface Sagas {
  tenant?: string
  /** Every n-th saga fails, from that many minutes ago. */
  failEvery?: number
  failSince?: number
  failUntil?: number
  fingerprint?: string
  seconds?: number
}

/** Creates two sagas for each minute of the last day. Each saga takes some seconds. */
async function sagas(
  service: string,
  {
    tenant = 'default',
    failEvery = 1,
    failSince = 0,
    failUntil = 0,
    fingerprint = 'usual',
    seconds = 3,
  }: Sagas = {},
) {
  await harness.database.pool.query(
    `WITH run AS (
       SELECT $1::text AS tenant, $2 || '-' || n AS id, $3::timestamptz - n * interval '30 seconds' AS began,
         n % $4 = 0 AND n * 0.5 < $5 AND n * 0.5 >= $8 AS failed FROM generate_series(1, 2880) AS n),
     stored AS (
       INSERT INTO sagas (tenant, id, service_name, status, outcome, started_at, ended_at, first_seen_at, last_event_at)
       SELECT tenant, id, $2, 'Ended', CASE WHEN failed THEN 'compensated' ELSE 'succeeded' END, began,
         began + $6 * interval '1 second', began, began + $6 * interval '1 second' FROM run)
     INSERT INTO saga_errors (tenant, activity_id, saga_id, first_seen_at, failed_at, fingerprint, text)
     SELECT tenant, id || '-a', id, began, began + interval '1 second', $7, 'no stock' FROM run WHERE failed`,
    [tenant, service, now, failEvery, failSince, seconds, fingerprint, failUntil],
  )
}

/** Returns the findings that many minutes after the end of the only due deployment. */
async function found(at = now, redis = harness.redis) {
  const [deployment] = await harness.due(at)
  if (!deployment) throw new Error('no deployment is due')
  const comparison = { database: harness.database, redis, settings, logger: silent }
  return findDeploymentImpact(comparison, deployment, at)
}

/**
 * Stores a queue history of the last day, one sample a minute; the function returns metrics by queue for a
 * number of minutes ago.
 */
async function queues(queuesOf: (minutes: number) => Record<string, Partial<SeriesMetrics>>) {
  const pipeline = harness.redis.pipeline()
  const unknown = { backlog: 0, latency: 0, processed: null, failed: null, busy: 0 }
  for (let minutes = 1440; minutes > 0; minutes -= 1) {
    const metrics = Object.entries(queuesOf(minutes)).map(
      ([queue, known]) => [seriesKey('jobs', queue), { ...unknown, ...known }] as const,
    )
    const sample = { atMs: now.getTime() - minutes * minute, metrics: new Map(metrics) }
    pipeline.lpush('{jq}:history:1m', await packSample(sample))
  }
  await pipeline.exec()
}

it('the comparison contains the figures before and after with their counts, and names what became worse', async () => {
  await sagas('billing', { failEvery: 4, failSince: 29, fingerprint: 'unseen' })
  await harness.deployed(30)
  const { services, findings, windowFrom, startedAt, windowTo, nextLookAt } = await found()
  expect([windowFrom, startedAt, windowTo, nextLookAt]).toEqual([ago(92), ago(32), now, ago(-30)])
  expect(services).toMatchObject([
    {
      service: 'billing',
      tenant: 'default',
      before: { sagas: 120, failed: 0, compensated: 0, stuck: 0, timed: 120, durationP50: 3, durationP95: 3 },
      after: { compensated: 14, failed: 0, durationP50: 3 },
      newFailures: [{ fingerprint: 'unseen', sagas: 14 }],
      commonCause: false,
    },
  ])
  expect(findings.map(({ measure }) => measure)).toEqual(['failures', 'new_failure'])
  expect(findings[0]).toMatchObject({ before: 0, samplesBefore: 120, serviceName: 'billing' })
  expect(findings[0]?.pValue).toBeLessThan(1e-5)
})

it('the comparison finds nothing without a change, and keeps tenants separate', async () => {
  await sagas('billing', { failEvery: 10, failSince: 1440 })
  await sagas('billing', { tenant: 'other', failEvery: 3, failSince: 29 })
  await sagas('mail')
  await harness.deployed(30)
  const { services, findings } = await found()
  expect(services.map(({ tenant }) => tenant)).toEqual(['default', 'other'])
  expect(new Set(findings.map(({ tenant }) => tenant))).toEqual(new Set(['other']))
})

it('of very many sagas, random ones are compared, and rates stay as they are', async () => {
  await harness.database.pool.query(
    `INSERT INTO sagas (tenant, id, service_name, status, outcome, ended_at, first_seen_at, last_event_at)
     SELECT 'default', n, 'billing', 'Ended', CASE WHEN n < 20000 AND n % 2 = 0 THEN 'compensated' ELSE 'succeeded' END,
       at, at, at FROM generate_series(1, 60000) AS n, LATERAL (SELECT $1::timestamptz - n * interval '90 ms') AS run (at)`,
    [now],
  )
  await harness.deployed(30)
  const { services, findings } = await found()
  const [figures] = services
  const { before, after } = figures ?? { before: { sagas: 0 }, after: { sagas: 0 } }
  expect(before.sagas + after.sagas).toBe(50_000)
  expect(findings).toMatchObject([{ measure: 'failures', before: 0 }])
  expect(findings[0]?.after).toBeCloseTo(0.5, 1)
})

it('projects take turns, however many deployments of one are due', async () => {
  for (let minutes = 60; minutes > 40; minutes -= 1) await harness.deployed(minutes)
  const projectId = await harness.otherProject()
  await harness.deployed(30, { projectId })
  const due = await harness.due()
  expect(due).toHaveLength(10)
  expect(due.slice(0, 2).map((deployment) => deployment.projectId)).toEqual([harness.projectId, projectId])
})

it('a failure that begins in several services without a deployment is not blamed on a deployment', async () => {
  for (const service of ['billing', 'mail', 'stock']) await sagas(service, { failEvery: 2, failSince: 28 })
  await harness.deployed(30)
  const { services, findings } = await found()
  expect(findings).toEqual([])
  expect(services).toMatchObject([{ commonCause: true, after: { compensated: 27 } }])
})

it('a saga that waits counts, even when it has ended after its wait', async () => {
  await sagas('billing', { seconds: 1000 })
  await harness.deployed(30)
  const { prisma } = harness.database
  const waits = { tenant: 'default', firstSeenAt: ago(25), lastEventAt: ago(25) }
  await prisma.saga.create({ data: { ...waits, id: 'waits', serviceName: 'billing', status: 'Started' } })
  const flag = { tenant: 'default', sagaId: 'waits', kind: 'stuck', since: ago(25), firstSeenAt: ago(25) }
  await prisma.sagaFlag.create({ data: flag })
  const { services } = await found()
  const [figures] = services
  expect(figures?.before).toMatchObject({ sagas: 120, stuck: 120 })
  expect(figures?.after.stuck).toBe(figures?.after.sagas)
})

it('the recovery of a figure is stored, and an unresolved finding is checked again', async () => {
  await sagas('billing', { failEvery: 2, failSince: 59, failUntil: 30 })
  await sagas('mail', { failEvery: 2, failSince: 59 })
  const { id: deploymentId } = await harness.deployed(60)
  const { prisma } = harness.database
  const figures = { before: 0, after: 0.5, samplesBefore: 120, samplesAfter: 120, pValue: 1e-9 }
  const found = {
    projectId: harness.projectId,
    deploymentId,
    tenant: 'default',
    measure: 'failures',
    ...figures,
  }
  const times = { changePointAt: ago(59), foundAt: ago(50) }
  await prisma.deploymentFinding.createMany({
    data: ['billing', 'mail'].map((serviceName) => ({ ...found, ...times, serviceName })),
  })
  const { signal } = new AbortController()
  const againMs = Date.now() + 5 * minute
  await noteRecoveries(harness, settings, { now, signal, logger: silent })
  const [billing, mail] = await prisma.deploymentFinding.findMany({ orderBy: { serviceName: 'asc' } })
  expect(Math.abs((billing?.recoveredAt?.getTime() ?? 0) - ago(30).getTime())).toBeLessThanOrEqual(minute)
  expect(mail?.recoveredAt).toBeNull()
  expect(Math.abs((mail?.dueAt?.getTime() ?? 0) - againMs)).toBeLessThan(minute / 2)
})

it('the queues of a service are compared, which are recognized by the beginning of their names', async () => {
  await queues((minutes) => ({
    'billing.mail': {
      latency: (minutes < 30 ? 5 : 1) + (minutes % 2),
      processed: 10 * (1440 - minutes),
      failed: minutes < 30 ? 4 * (30 - minutes) : 0,
    },
    'billing-old': { latency: 50 },
    stock: { latency: minutes % 3 },
  }))
  await harness.deployed(30)
  const { services, queues: compared, findings } = await found()
  expect(services).toEqual([])
  expect(compared).toMatchObject([
    {
      service: 'billing',
      before: { samples: 60, jobs: 600, failedJobs: 0 },
      after: { latencyP50: 5, latencyP95: 6, failedJobs: 116 },
      commonCause: false,
    },
  ])
  expect(findings.map(({ measure, serviceName, tenant }) => [measure, serviceName, tenant])).toEqual([
    ['queue_latency', 'billing', ''],
    ['failed_jobs', 'billing', ''],
  ])
})

it('a problem that begins in queues of several services without a deployment is not blamed on a deployment', async () => {
  const slow = (minutes: number) => ({ latency: (minutes < 29 ? 9 : 1) + (minutes % 2) })
  await queues((minutes) => ({ billing: slow(minutes), mail: slow(minutes), stock: slow(minutes) }))
  await harness.deployed(30)
  expect(await found()).toMatchObject({ queues: [{ service: 'billing', commonCause: true }], findings: [] })
})

it('sagas are compared without a history of queues, and the result says that queues were not compared', async () => {
  await sagas('billing', { failEvery: 4, failSince: 29 })
  await harness.deployed(30)
  const redis = createRedis({ url: 'redis://127.0.0.1:1', onError: () => {} })
  for (const history of [redis, harness.redis]) {
    const { queues: compared, findings } = await found(now, history)
    expect(compared).toBeNull()
    expect(findings.map(({ measure }) => measure)).toContain('failures')
  }
  redis.disconnect()
})

it('other tiers, deployments without services and unfinished deployments are skipped', async () => {
  await harness.deployed(30, { tier: 'staging' })
  await harness.deployed(30, { services: [] })
  await harness.deployed(30, { status: 'canceled' })
  await harness.deployed(1)
  await harness.deployed(2000)
  expect(await harness.due()).toEqual([])
})

it('two workers compare each deployment until its window is over', async () => {
  await sagas('billing', { failEvery: 4, failSince: 65 })
  const { id: hookId } = await harness.database.prisma.webhook.create({
    data: {
      scope: 'project',
      projectId: harness.projectId,
      url: 'https://ci.example.com/',
      host: 'ci.example.com',
      events: ['deployment_impact'],
    },
  })
  await queues(() => ({ mail: {} }))
  const [ended, running] = [await harness.deployed(66), await harness.deployed(30, { services: ['mail'] })]
  const workers = await Promise.all([harness.startWorker(), harness.startWorker()])
  const { prisma } = harness.database
  await expect.poll(() => prisma.deploymentImpact.count()).toBe(2)
  const impacts = await prisma.deploymentImpact.findMany({ orderBy: { deploymentId: 'asc' } })
  expect(impacts.map(({ nextLookAt }) => nextLookAt)).toEqual([null, ago(-30)])
  expect(impacts.map((impact) => impact.queues)).toMatchObject([[], [{ service: 'mail' }]])
  const findings = await prisma.deploymentFinding.findMany()
  expect(findings.map(({ deploymentId, measure }) => [deploymentId, measure])).toEqual([
    [ended.id, 'failures'],
    [ended.id, 'new_failure'],
  ])
  const deliveries = await prisma.webhookDelivery.findMany({ where: { webhookId: hookId } })
  expect(deliveries.map(({ payload }) => JSON.parse(payload))).toMatchObject([
    {
      object_kind: 'deployment_impact',
      deployment_id: ended.id,
      environment_tier: 'production',
      findings: [
        { measure: 'failures', service_name: 'billing', samples_before: 120, confidence: expect.any(Number) },
        { measure: 'new_failure', fingerprint: 'usual' },
      ],
    },
  ])
  expect(await harness.due()).toEqual([])
  expect((await harness.due(ago(-31))).map(({ id }) => id)).toEqual([running.id])
  await Promise.all(workers.map((worker) => worker.close()))
})
