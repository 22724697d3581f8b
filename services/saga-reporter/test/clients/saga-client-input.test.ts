import { promisify } from 'node:util'
import { type MetadataValue, Server, ServerCredentials, type ServerUnaryCall } from '@grpc/grpc-js'
import { SagaIngestService } from '@switchyard/contracts/saga-ingest'
import { createSagaClient, type SagaClientOptions } from '@switchyard/saga-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readLog } from '../event-log.js'
import { createTokens, startHarness, startService } from '../harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
const closing: (() => unknown)[] = []
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(async () => {
  for (const close of closing.reverse()) await close()
  await harness?.close()
})

function client(options: Partial<SagaClientOptions> = {}) {
  const created = createSagaClient({
    address: `127.0.0.1:${harness.grpcPort}`,
    serviceName: 'booking',
    retryDelayMs: 20,
    retryDelayMsMax: 200,
    // On a busy machine, a later answer makes the event a duplicate.
    deadlineMs: 30_000,
    ...options,
  })
  closing.push(() => created.close(0))
  return created
}

const recorded = { outcome: 'stored', message: 'recorded' }

describe('the client', () => {
  it('stores an event identically, whether it is sent alone or in a batch', async () => {
    const tags = { labels: 'env=prod,team=x', note: ' padded ', ort: 'Köln', list: 'a, b' }
    const about = { tags, parentSagaId: ' Übersaga, die erste ' }
    const tagsOf = async (tenant: string) => {
      const rows = await harness.database.prisma.sagaTag.findMany({
        where: { tenant },
        orderBy: { tag: 'asc' },
      })
      const { parentSagaId } = await harness.database.prisma.saga.findFirstOrThrow({ where: { tenant } })
      return { tags: rows.map(({ tag }) => tag), parentSagaId }
    }
    const alone = client({ tenant: 'tags alone', batchEventsMax: 1 })
    expect(await alone.sagaStarted({ sagaId: 'alone', ...about })).toEqual(recorded)
    const together = client({ tenant: 'tags together', batchDelayMs: 50 })
    await Promise.all([
      together.sagaStarted({ sagaId: 'together', ...about }),
      together.sagaEnded({ sagaId: 'together' }),
    ])
    const sent = Object.entries(tags).map(([key, value]) => `${key}=${value}`)
    expect(await tagsOf('tags alone')).toEqual({
      tags: expect.arrayContaining(sent),
      parentSagaId: about.parentSagaId,
    })
    expect(await tagsOf('tags together')).toEqual(await tagsOf('tags alone'))
  })

  it('sends its tenant in the metadata of a batch, too, unless metadata cannot contain it', async () => {
    const seen: MetadataValue[][] = []
    const server = new Server()
    server.addService(SagaIngestService, {
      reportEvents: (
        call: ServerUnaryCall<unknown, unknown>,
        answer: (error: null, reply: object) => void,
      ) => {
        seen.push(call.metadata.get('x-tenant'))
        answer(null, { results: [{ outcome: 1, message: 'recorded', errors: '' }] })
      },
    })
    const bind = promisify(server.bindAsync).bind(server)
    const port = await bind('127.0.0.1:0', ServerCredentials.createInsecure())
    closing.push(() => server.forceShutdown())
    for (const tenant of ['acme', 'a,b', 'Köln', undefined]) {
      const reporter = client({ address: `127.0.0.1:${port}`, ...(tenant !== undefined && { tenant }) })
      expect(await reporter.sagaStarted({ sagaId: 's' })).toEqual(recorded)
    }
    expect(seen).toEqual([['acme'], [], [], []])
  })

  it('refuses an incomplete event by the name of the field, and no method throws', async () => {
    const told: unknown[] = []
    const reporter = client({ tenant: 'client-bad', onNotStored: (event) => told.push(event) })
    const { sagaStarted, activityEnded } = reporter as unknown as Record<
      string,
      (event?: unknown) => Promise<unknown>
    >
    const refused = (field: string) => ({ outcome: 'refused', reason: expect.stringContaining(field) })
    expect(await sagaStarted?.()).toEqual(refused('the event is not an object'))
    expect(await sagaStarted?.({ sagaId: undefined })).toEqual(refused('sagaId'))
    expect(await sagaStarted?.({ sagaId: 's', tags: { order: undefined } })).toEqual(refused('tags.order'))
    expect(await activityEnded?.({ sagaId: 's', activityId: undefined })).toEqual(refused('activityId'))
    const nameless = client({ serviceName: undefined as unknown as string })
    expect(await nameless.sagaStarted({ sagaId: 's' })).toEqual(refused('serviceName'))
    expect(() => client({ address: undefined as unknown as string })).toThrow('address is not a text')
    const strayTenant = client({ tenant: {} as unknown as string })
    expect(await strayTenant.sagaStarted({ sagaId: 's' })).toEqual(refused('tenant'))
    await Promise.all([reporter.close(), nameless.close(), strayTenant.close()])
    expect(told).toEqual([
      { operation: 'sagaStarted', sagaId: '' },
      { operation: 'sagaStarted', sagaId: '' },
      { operation: 'sagaStarted', sagaId: 's' },
      { operation: 'activityEnded', sagaId: 's' },
    ])
    expect(await readLog(harness.database, 'client-bad')).toEqual([])
  })

  it('continues when the listener for lost events fails, at once or later', async () => {
    const failures: unknown[] = []
    const onFailure = (error: unknown) => failures.push(error)
    process.on('unhandledRejection', onFailure)
    for (const onNotStored of [
      () => {
        throw new Error('listener')
      },
      () => Promise.reject(new Error('listener')),
    ]) {
      const reporter = client({ onNotStored })
      expect(await reporter.sagaStarted({ sagaId: '' })).toMatchObject({ outcome: 'refused' })
      await reporter.close()
    }
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', onFailure)
    expect(failures).toEqual([])
  })

  it('asks for its token again when it is not available, as a text or a promise, and loses nothing', async () => {
    const tokens = await createTokens(harness.database)
    const service = await startService(harness.databaseUrl, { SAGA_AUTH: 'token' })
    closing.push(service.close)
    const answers = [
      () => {
        throw new Error('the vault is sealed')
      },
      () => Promise.reject(new Error('the vault is away')),
      () => undefined as unknown as string,
      () => 'tokén',
      () => new Promise<string>(() => {}),
      async () => `${tokens.reporter}\n`,
    ]
    let asked = 0
    const token = () => (answers[Math.min(asked++, answers.length - 1)] as () => string | Promise<string>)()
    const address = `127.0.0.1:${service.grpcPort}`
    const reporter = client({ address, token, tenant: 'client-token', deadlineMs: 500 })
    expect(await reporter.sagaStarted({ sagaId: 'late' })).toMatchObject({ outcome: 'stored' })
    expect(reporter.stats()).toMatchObject({ stored: 1, lost: 0 })
    expect(reporter.stats().repeated).toBeGreaterThanOrEqual(answers.length - 1)
  })

  it('sends no token that metadata cannot contain, and reports that at once', async () => {
    const reporter = client({ token: 'glpat-sécret' })
    expect(await reporter.sagaStarted({ sagaId: 's' })).toEqual({
      outcome: 'lost',
      reason: 'UNAUTHENTICATED: the token is not a text of printable ASCII without blanks',
    })
    const silent = client({
      giveUpAfterMs: 50,
      token: () => {
        throw new Error('the vault is sealed')
      },
    })
    expect(await silent.sagaStarted({ sagaId: 's' })).toEqual({
      outcome: 'lost',
      reason: 'given up: UNAVAILABLE: the token cannot be got: the vault is sealed',
    })
  })
})
