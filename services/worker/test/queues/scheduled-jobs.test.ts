import { createSession, createToken, createUser } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startHarness } from '../harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let workers: Awaited<ReturnType<typeof harness.startWorker>>[]
beforeAll(async () => {
  harness = await startHarness()
  workers = await Promise.all([harness.startWorker(), harness.startWorker()])
})
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.close()))
  await harness.close()
})

it('scheduled jobs run once, however many workers there are', async () => {
  for (const [name, pattern] of [
    ['expired-token-cleanup', '0 * * * *'],
    ['saga-event-partitions', '15 0 * * *'],
  ] as const) {
    const queue = harness.queue(name)
    await expect.poll(() => queue.getJobSchedulersCount()).toBe(1)
    expect(await queue.getJobSchedulers()).toMatchObject([{ key: name, pattern, tz: 'UTC' }])
    await expect.poll(() => queue.getDelayedCount()).toBe(1)
  }
})

it('a failed run leaves no dead job when the next one makes up for it', async () => {
  const attempts = async (outcome: string) => {
    const metrics = await Promise.all(
      workers.map(async ({ baseUrl }) => (await fetch(`${baseUrl}/metrics`)).text()),
    )
    const name = `worker_job_attempts_total{queue="webhook-dispatch",outcome="${outcome}"`
    const lines = metrics.flatMap((text) => text.split('\n').filter((line) => line.startsWith(name)))
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  }
  const { pool } = harness.database
  await pool.query('ALTER TABLE webhook_deliveries RENAME TO away')
  await expect.poll(() => attempts('failed')).toBeGreaterThan(0)
  await pool.query('ALTER TABLE away RENAME TO webhook_deliveries')
  const done = await attempts('done')
  await expect.poll(() => attempts('done')).toBeGreaterThan(done)
  expect(await harness.queue('webhook-dispatch').getFailedCount()).toBe(0)
  for (const { baseUrl } of workers) {
    const text = await (await fetch(`${baseUrl}/metrics`)).text()
    expect(text).toMatch(/^worker_jobs_dead_total\{queue="webhook-dispatch".*\} 0$/m)
  }
})

it('a worker creates the partitions of today and the next six days as soon as it starts', async () => {
  await harness.database.pool.query(
    `DO $$ DECLARE p regclass; BEGIN
      FOR p IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'saga_events'::regclass
        AND inhrelid <> 'saga_events_default'::regclass
      LOOP EXECUTE 'DROP TABLE ' || p; END LOOP; END $$`,
  )
  const worker = await harness.startWorker()
  const partitions = async () => {
    const { rows } = await harness.database.pool.query<{ name: string }>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits
       WHERE inhparent = 'saga_events'::regclass AND inhrelid <> 'saga_events_default'::regclass ORDER BY 1`,
    )
    return rows.map(({ name }) => name)
  }
  const today = Date.now()
  const expected = [0, 1, 2, 3, 4, 5, 6].map((day) => {
    const date = new Date(today + day * 86_400_000).toISOString().slice(0, 10)
    return `saga_events_${date.replaceAll('-', '')}`
  })
  await expect.poll(partitions).toEqual(expected)
  await worker.close()
})

it('only tokens that expired or were revoked over 30 days ago are deleted', async () => {
  const user = await createUser(harness.database)
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000)
  const given = {
    living: {},
    expiringLater: { expiresAt: daysAgo(-5) },
    expiredLately: { expiresAt: daysAgo(29) },
    revokedLately: { revokedAt: daysAgo(29) },
    expiredLongAgo: { expiresAt: daysAgo(32) },
    revokedLongAgo: { revokedAt: daysAgo(31) },
  }
  for (const [name, fields] of Object.entries(given)) {
    await createToken(harness.database, user, { name, ...fields })
  }
  const job = await harness.queue('expired-token-cleanup').add('expired-token-cleanup', {})
  await expect.poll(() => job.getState()).toBe('completed')
  const left = await harness.database.prisma.personalAccessToken.findMany({ orderBy: { id: 'asc' } })
  expect(left.map(({ name }) => name)).toEqual(['living', 'expiringLater', 'expiredLately', 'revokedLately'])
})

it('only sessions that have ended are deleted', async () => {
  const { prisma } = harness.database
  const user = await createUser(harness.database)
  const { token: living } = await createToken(harness.database, user)
  const { token: revoked } = await createToken(harness.database, user, { revokedAt: new Date() })
  await createSession(harness.database, living)
  const [kept] = await prisma.session.findMany({ where: { tokenId: living.id } })
  await createSession(harness.database, living)
  const idle = { id: { not: kept?.id ?? 0 }, tokenId: living.id }
  await prisma.session.updateMany({ where: idle, data: { idleUntil: new Date(Date.now() - 1000) } })
  await createSession(harness.database, revoked)
  const job = await harness.queue('expired-token-cleanup').add('expired-token-cleanup', {})
  await expect.poll(() => job.getState()).toBe('completed')
  const left = await prisma.session.findMany({ where: { tokenId: { in: [living.id, revoked.id] } } })
  expect(left).toEqual([kept])
})
