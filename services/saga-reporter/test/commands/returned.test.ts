import { status } from '@grpc/grpc-js'
import { CommandResult } from '@switchyard/contracts/saga-commands'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTokens, startHarness, startService } from '../harness.js'
import { codeOf, openOperator, openOrchestrator, reportFailedSaga, type Shown } from './command-clients.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let replica: Awaited<ReturnType<typeof startService>>
let tokens: Awaited<ReturnType<typeof createTokens>>
let orchestrators: ReturnType<typeof openOrchestrator>[] = []
let call: ReturnType<typeof openOperator>
let service = ''
let count = 0

beforeAll(async () => {
  harness = await startHarness({ SAGA_AUTH: 'token' })
  replica = await startService(harness.serviceUrl, { SAGA_AUTH: 'token' })
  tokens = await createTokens(harness.database)
  orchestrators = [harness, replica].map(({ grpcPort }) => openOrchestrator(grpcPort, tokens.reporter))
  call = openOperator(harness.baseUrl)
})
afterAll(async () => {
  for (const orchestrator of orchestrators) orchestrator.close()
  await replica?.close()
  await harness?.close()
})
beforeEach(() => {
  count += 1
  service = `service-${count}`
})

const first = () => orchestrators[0] as ReturnType<typeof openOrchestrator>
const second = () => orchestrators[1] as ReturnType<typeof openOrchestrator>

async function asked(name: string): Promise<Shown> {
  const sagaId = await reportFailedSaga(harness.grpc, tokens.reporter, service, name)
  const wanted = { kind: 'cancel', reason: 'the bank is back' }
  const { status: code, body } = await call('POST', `${sagaId}/commands`, tokens.administrator, wanted)
  expect(code).toBe(201)
  return body
}
const shown = async (id: string): Promise<Shown> =>
  (await call('GET', `commands/${id}`, tokens.administrator)).body

describe('a returned command', () => {
  it('can be leased again at once', async () => {
    const { id } = await asked('a')
    const token = (await first().lease(service))[0]?.leaseToken
    await first().acknowledge(token, CommandResult.COMMAND_RESULT_RETURNED)
    expect(await shown(id)).toMatchObject({ state: 'pending', deliveries: 0 })
    expect(await codeOf(first().acknowledge(token))).toBe(status.FAILED_PRECONDITION)
    expect(await second().lease(service)).toMatchObject([{ id, delivery: 1 }])
  })

  it('shows the reason, is leased only by others when its holder excludes it, and expires when nobody leases it', async () => {
    const { id } = await asked('a')
    const elsewhere = second().lease(service, { waitSeconds: 20, exceptIds: [id] })
    const [leased] = await first().lease(service)
    const here = first().lease(service, { waitSeconds: 20 })
    await first().acknowledge(leased?.leaseToken, CommandResult.COMMAND_RESULT_RETURNED, 'not mine')
    const [again] = await here
    expect(again).toMatchObject({ id, delivery: 1 })
    expect(await shown(id)).toMatchObject({ state: 'leased', message: null })
    await first().acknowledge(again?.leaseToken, CommandResult.COMMAND_RESULT_RETURNED, 'nor mine')
    expect(await first().lease(service, { exceptIds: [id] })).toEqual([])
    const other = await asked('b')
    expect((await elsewhere).map((command) => command.id)).toEqual([other.id])
    expect(await shown(id)).toMatchObject({ state: 'pending', deliveries: 0, message: 'nor mine' })
    await harness.database.pool.query('UPDATE saga_commands SET due_at = now() WHERE id = $1', [id])
    expect(await shown(id)).toMatchObject({ state: 'expired', message: 'nor mine' })
    const many = Array.from({ length: 1001 }, () => id)
    for (const exceptIds of [many, ['1']])
      expect(await codeOf(first().lease(service, { exceptIds }))).toBe(status.INVALID_ARGUMENT)
  })
})
