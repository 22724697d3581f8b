import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { status } from '@grpc/grpc-js'
import { createDatabase } from '@switchyard/db'
import { bundled, createTestDatabase, getFreePort, programEnvironment, waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startLink } from './cuttable-link.js'
import { deriveFromLog, readLog } from './event-log.js'
import { connect, type Grpc } from './grpc-client.js'
import { startHarness, startService } from './harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const started = (sagaId: string) => ({ sagaId, serviceName: 'booking' })

describe('without its database', () => {
  it('a call is UNAVAILABLE, never refused, and works again when the database does', async () => {
    const link = await startLink(harness.databaseUrl)
    const service = await startService(link.url, { SAGA_AUTH: 'none' })
    const readiness = () => fetch(`${service.baseUrl}/-/readiness`)
    const failures = async () => {
      const text = await (await fetch(`${service.baseUrl}/metrics`)).text()
      return Number(/^saga_ingest_consecutive_failures.* (\d+)$/m.exec(text)?.[1])
    }
    try {
      expect(await service.grpc.report('SagaStarted', started('before'))).toMatchObject({ isSuccess: true })
      link.cut()
      await expect(service.grpc.report('SagaStarted', started('during'))).rejects.toMatchObject({
        code: status.UNAVAILABLE,
        details: 'events cannot be stored',
      })
      await expect(service.grpc.report('ActivityRevoked', { activityId: 'during' })).rejects.toMatchObject({
        code: status.UNAVAILABLE,
      })
      const notReady = await readiness()
      expect(notReady.status).toBe(503)
      expect(JSON.stringify(await notReady.json())).toContain('postgres')
      expect(await failures()).toBe(2)
      link.mend()
      expect(await service.grpc.report('SagaStarted', started('during'))).toMatchObject({
        isSuccess: true,
        message: 'recorded',
      })
      expect((await readiness()).status).toBe(200)
      expect(await failures()).toBe(0)
    } finally {
      await service.close()
      link.close()
    }
  })

  it('a call is UNAVAILABLE after ten seconds when the network swallows what is sent', async () => {
    const link = await startLink(harness.databaseUrl)
    const service = await startService(link.url, { SAGA_AUTH: 'none' })
    try {
      expect(await service.grpc.report('SagaStarted', started('heard'))).toMatchObject({ isSuccess: true })
      link.swallow()
      const sentMs = performance.now()
      await expect(service.grpc.report('SagaStarted', started('swallowed'))).rejects.toMatchObject({
        code: status.UNAVAILABLE,
      })
      expect(performance.now() - sentMs).toBeLessThan(20_000)
      link.mend()
      expect(await service.grpc.report('SagaStarted', started('swallowed'))).toMatchObject({
        message: 'recorded',
      })
    } finally {
      await service.close()
      link.close()
    }
  })

  it('a call is also UNAVAILABLE when its token cannot be looked up', async () => {
    const link = await startLink(harness.databaseUrl)
    link.cut()
    const service = await startService(link.url, { SAGA_AUTH: 'token' })
    try {
      await expect(
        service.grpc.report('SagaStarted', started('x'), { metadata: { 'private-token': 'glpat-x' } }),
      ).rejects.toMatchObject({ code: status.UNAVAILABLE })
    } finally {
      await service.close()
      link.close()
    }
  })

  it('a connection failure during many calls loses none that were answered', async () => {
    const link = await startLink(harness.databaseUrl)
    const service = await startService(link.url)
    const metadata = { 'x-tenant': 'cut' }
    try {
      const acknowledged = new Set<string>()
      const answers = Array.from({ length: 50 }, async (_, lane) => {
        for (let index = 0; ; index += 1) {
          const activityId = `a-${lane}-${index}`
          await service.grpc.report('ActivityExecuteStarted', { activityId, sagaId: 's' }, { metadata })
          acknowledged.add(activityId)
        }
      })
      await waitFor(() => acknowledged.size >= 20)
      link.cut()
      const results = await Promise.allSettled(answers)
      const failed = results.filter((result) => result.status === 'rejected')
      expect(failed.length).toBeGreaterThan(0)
      for (const { reason } of failed) expect(reason).toMatchObject({ code: status.UNAVAILABLE })
      const logged = new Set((await readLog(harness.database, 'cut')).map(({ activityId }) => activityId))
      expect([...acknowledged].filter((id) => !logged.has(id))).toEqual([])
      const { stored, derived } = await deriveFromLog(harness.database, 'cut')
      expect(stored).toEqual(derived)
    } finally {
      await service.close()
      link.close()
    }
  })
})

describe('the process', () => {
  it('that is killed under load has stored every answered event', async () => {
    const testDatabase = await createTestDatabase()
    const reporter = await startProcess(testDatabase.url)
    const acknowledged = new Set<string>()
    const load = Array.from({ length: 16 }, (_, lane) => reportUntilCut(reporter.grpc, lane, acknowledged))
    await waitFor(() => acknowledged.size >= 100, { what: '100 acknowledged events' })
    reporter.child.kill('SIGKILL')
    await Promise.all(load)
    reporter.grpc.close()

    const survivor = await startService(testDatabase.url)
    try {
      const log = await readLogOf(testDatabase.url)
      const times = new Map<string, number>()
      for (const id of log.ids) times.set(id, (times.get(id) ?? 0) + 1)
      expect([...acknowledged].filter((id) => times.get(id) !== 1)).toEqual([])
      expect(log.stored).toEqual(log.derived)
      expect(await survivor.grpc.report('SagaEnded', { sagaId: 'lane-0' })).toMatchObject({ isSuccess: true })
    } finally {
      await survivor.close()
      await testDatabase.close()
    }
  })

  it('that is asked to stop finishes the current calls and exits 0', async () => {
    const testDatabase = await createTestDatabase()
    const reporter = await startProcess(testDatabase.url)
    const calls = Array.from({ length: 50 }, (_, index) =>
      reporter.grpc.report('ActivityRevoked', { activityId: `a-${index}` }),
    )
    await calls[0]
    reporter.child.kill('SIGTERM')
    const answers = await Promise.all(calls)
    expect(answers.every(({ isSuccess }) => isSuccess)).toBe(true)
    const [code] = reporter.child.exitCode === null ? await once(reporter.child, 'exit') : [0]
    expect(code).toBe(0)
    reporter.grpc.close()
    expect((await readLogOf(testDatabase.url)).ids).toHaveLength(50)
    await testDatabase.close()
  })
})

async function readLogOf(databaseUrl: string) {
  const database = createDatabase({ url: databaseUrl, poolSizeMax: 2, applicationName: 'test' })
  try {
    const ids = (await readLog(database)).flatMap(({ activityId }) => activityId ?? [])
    return { ids, ...(await deriveFromLog(database)) }
  } finally {
    await database.close()
  }
}

async function reportUntilCut(grpc: Grpc, lane: number, acknowledged: Set<string>): Promise<void> {
  for (let index = 0; ; index += 1) {
    const activityId = `a-${lane}-${index}`
    try {
      const fields = { activityId, sagaId: `lane-${lane % 4}`, parameterData: Buffer.alloc(200) }
      await grpc.report('ActivityExecuteStarted', fields)
      acknowledged.add(activityId)
    } catch {
      return
    }
  }
}

async function startProcess(databaseUrl: string): Promise<{ child: ChildProcess; grpc: Grpc }> {
  const [httpPort, grpcPort] = [await getFreePort(), await getFreePort()]
  const child = spawn(process.execPath, [await bundled('services/saga-reporter')], {
    env: {
      ...programEnvironment(),
      DATABASE_URL: databaseUrl,
      PORT: `${httpPort}`,
      GRPC_PORT: `${grpcPort}`,
      LOG_LEVEL: 'silent',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  await waitFor(async () => (await fetch(`http://127.0.0.1:${httpPort}/-/readiness`)).ok, {
    what: 'the reporter to be ready',
  })
  return { child, grpc: connect(grpcPort) }
}
