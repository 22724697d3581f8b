import { status } from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readLog } from '../event-log.js'
import { encode } from '../grpc-client.js'
import { startHarness } from '../harness.js'
import { connectRaw, frame } from './raw-calls.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let raw: Awaited<ReturnType<typeof connectRaw>>
beforeAll(async () => {
  harness = await startHarness()
  raw = await connectRaw(harness.grpcPort)
})
afterAll(async () => {
  raw?.close()
  await harness?.close()
})

const pathOf = (method: string) => `/svc.Sagas.Server.Grpc.Saga/${method}`
const report = (sagaId: string, headers: Record<string, string | string[]>) =>
  raw.call(frame(encode('SagaStarted', { sagaId, serviceName: 'booking' })), {
    ':path': pathOf('SagaStarted'),
    ...headers,
  })

describe('metadata beyond printable ASCII', () => {
  it.each(['x-tenant', 'x-event-id', 'x-event-time', 'x-parent-saga-id', 'traceparent', 'authorization'])(
    'is refused as %s, with its name, and nothing is stored',
    async (key) => {
      expect(await report(`of-${key}`, { [key]: 'é' })).toMatchObject({
        status: String(status.INVALID_ARGUMENT),
        details: `${key} must be printable ASCII`,
      })
      const log = await readLog(harness.database)
      expect(log.map(({ sagaId }) => sagaId)).not.toContain(`of-${key}`)
    },
  )

  it('is refused in one of several tags', async () => {
    const answer = await report('tagged', { 'x-tag': ['a=1', 'b=é'] })
    expect(answer.details).toBe('x-tag must be printable ASCII')
  })

  it('is refused in binary keys, which are not read', async () => {
    const answer = await report('bytes', { 'x-tag-bin': Buffer.from('b=é').toString('base64') })
    expect(answer).toMatchObject({
      status: String(status.INVALID_ARGUMENT),
      details: 'x-tag-bin is not supported; a batch takes texts beyond ASCII',
    })
  })

  it('does not matter under a key that is not read', async () => {
    expect(await report('other', { 'x-customer': 'é' })).toMatchObject({ status: String(status.OK) })
  })

  it('is refused only for its own call, among parallel calls', async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        report(`together-${index}`, { 'x-tenant': index % 3 === 0 ? 'é' : 'together' }),
      ),
    )
    expect(answers.map((answer) => answer.status)).toEqual(
      answers.map((_, index) => String(index % 3 === 0 ? status.INVALID_ARGUMENT : status.OK)),
    )
    expect(await readLog(harness.database, 'together')).toHaveLength(26)
  })
})
