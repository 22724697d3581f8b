import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTokens, startHarness } from '../harness.js'
import { openOperator, openOrchestrator, reportFailedSaga, type Shown } from './command-clients.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let tokens: Awaited<ReturnType<typeof createTokens>>
let orchestrator: ReturnType<typeof openOrchestrator>
let call: ReturnType<typeof openOperator>
let service = ''

beforeAll(async () => {
  harness = await startHarness({ SAGA_AUTH: 'token' })
  tokens = await createTokens(harness.database)
  orchestrator = openOrchestrator(harness.grpcPort, tokens.reporter)
  call = openOperator(harness.baseUrl)
})
afterAll(async () => {
  orchestrator?.close()
  await harness?.close()
})

const failedSaga = (name: string) => reportFailedSaga(harness.grpc, tokens.reporter, service, name)

describe('a request for the sagas of a filter', () => {
  it('first shows its effect, and then requests a command for each saga where it is possible', async () => {
    service = 'some'
    const [a, b, busy] = [await failedSaga('a'), await failedSaga('b'), await failedSaga('busy')]
    await call('POST', `${busy}/commands`, tokens.administrator, { kind: 'cancel', reason: 'x' })
    const idle = `${service}-idle`
    const metadata = { 'private-token': tokens.reporter }
    await harness.grpc.report('SagaStarted', { sagaId: idle, serviceName: service }, { metadata })
    const done = `${service}-done`
    for (const operation of ['SagaStarted', 'SagaEnded'] as const)
      await harness.grpc.report(operation, { sagaId: done, serviceName: service }, { metadata })
    const filter = { service_name: service }
    const preview = await call('POST', 'commands/preview', tokens.administrator, { kind: 'retry', filter })
    const leftOut = { without_service: 0, without_step: 1, busy: 1, ended: 1 }
    expect(preview.body).toEqual({ matched: 5, commands: 2, left_out: leftOut })
    expect((await call('GET', `commands?service_name=${service}`, tokens.reader)).body).toHaveLength(1)

    const wish = { kind: 'retry', reason: 'the bank is back', filter }
    const batch = (body: object, token: string | null = tokens.administrator) =>
      call('POST', 'commands', token, { ...wish, ...body })
    expect((await batch({ expected_count: 3 })).status).toBe(409)
    expect((await batch({})).status).toBe(400)
    expect((await batch({ expected_count: 5, filter: {} })).status).toBe(400)
    expect((await batch({ expected_count: 5, filter: { service: 'x' } })).status).toBe(400)
    expect((await batch({ expected_count: 5 }, tokens.reader)).status).toBe(403)
    expect((await batch({ expected_count: 5 }, null)).status).toBe(401)
    const { status: code, body } = await batch({ expected_count: 5 })
    expect([code, body]).toEqual([
      201,
      { matched: 5, created: 2, left_out: leftOut, batch_id: expect.any(String) },
    ])
    const list = await call('GET', `commands?batch_id=${body.batch_id}`, tokens.reader)
    expect(list.body.map((command: Shown) => [command.saga_id, command.activity_id]).sort()).toEqual([
      [a, `${a}-2`],
      [b, `${b}-2`],
    ])
    expect(await orchestrator.lease(service, { max: 10 })).toHaveLength(3)
  })

  it('is refused when the filter finds more than 500 sagas, or the operator would have too many commands', async () => {
    service = 'many'
    await harness.database.pool.query(
      `INSERT INTO sagas (tenant, id, service_name, status, first_seen_at, last_event_at)
       SELECT 'default', $1 || '-' || lpad(n::text, 4, '0'), $1, 'Started', now(), now()
       FROM generate_series(1, 501) n`,
      [service],
    )
    const many = (id_prefix: string, expected_count: number) =>
      call('POST', 'commands', tokens.administrator, {
        kind: 'cancel',
        reason: 'x',
        filter: { id_prefix },
        expected_count,
      })
    expect((await many(service, 501)).status).toBe(400)
    const own = await call('POST', `${service}-0500/commands`, tokens.administrator, {
      kind: 'cancel',
      reason: 'x',
    })
    await harness.database.pool.query(
      `INSERT INTO saga_commands (tenant, saga_id, service_name, kind, reason, state, author_id, author_name, expires_at, due_at)
       SELECT 'full', n::text, 'full', 'cancel', 'x', 'pending', $1, 'x', 'infinity', 'infinity'
       FROM generate_series(1, 950) n`,
      [own.body.author.id],
    )
    const full = await many(`${service}-00`, 99)
    expect(full).toMatchObject({ status: 409, body: { message: expect.stringContaining('1000 commands') } })
    expect((await call('GET', `commands?service_name=${service}`, tokens.reader)).body).toHaveLength(1)
  })
})
