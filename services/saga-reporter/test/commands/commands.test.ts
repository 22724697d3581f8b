import { status } from '@grpc/grpc-js'
import { CommandKind, CommandResult } from '@switchyard/contracts/saga-commands'
import { createToken, createUser } from '@switchyard/testing'
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

const failedSaga = (name = 'a') => reportFailedSaga(harness.grpc, tokens.reporter, service, name)

const ask = (sagaId: string, body: object, token: string | null = tokens.administrator) =>
  call('POST', `${sagaId}/commands`, token, { reason: 'the bank is back', ...body })
async function asked(sagaId: string, body: object): Promise<Shown> {
  const { status: code, body: command } = await ask(sagaId, body)
  expect(code).toBe(201)
  return command
}
const shown = async (id: string): Promise<Shown> =>
  (await call('GET', `commands/${id}`, tokens.administrator)).body

/** Ages the commands of this test. */
const pass = (seconds: number) =>
  harness.database.pool.query(
    `UPDATE saga_commands SET due_at = due_at - gone, expires_at = expires_at - gone
     FROM (SELECT $1 * interval '1 second' AS gone) g WHERE service_name = $2`,
    [seconds, service],
  )

describe('a command', () => {
  it.each(['retry', 'compensate', 'skip', 'cancel'] as const)(
    '%s reaches an orchestrator of the service and comes back with what it says',
    async (kind) => {
      const sagaId = await failedSaga()
      const command = await asked(sagaId, { kind })
      const step = kind === 'retry' || kind === 'skip' ? `${sagaId}-2` : null
      expect(command).toMatchObject({
        saga_id: sagaId,
        tenant: 'default',
        service_name: service,
        kind,
        activity_id: step,
        state: 'pending',
        reason: 'the bank is back',
        deliveries: 0,
        decided_by: null,
        ended_at: null,
      })
      const [leased, ...others] = await first().lease(service, { worker: 'w1' })
      expect(others).toEqual([])
      expect(leased).toMatchObject({
        id: command.id,
        tenant: 'default',
        sagaId,
        activityId: step ?? '',
        reason: 'the bank is back',
        kind: CommandKind[`COMMAND_KIND_${kind.toUpperCase()}` as 'COMMAND_KIND_RETRY'],
        delivery: 1,
        requestedBy: (command.author as { username: string }).username,
      })
      expect(await shown(command.id)).toMatchObject({ state: 'leased', worker: 'w1' })
      await second().acknowledge(leased?.leaseToken, CommandResult.COMMAND_RESULT_SUCCEEDED, 'done')
      expect(await shown(command.id)).toMatchObject({
        state: 'succeeded',
        message: 'done',
        deliveries: 1,
        leased_until: null,
        ended_at: expect.any(String),
      })
      expect(await first().lease(service)).toEqual([])
    },
  )

  it('is answered as failed or refused, only once', async () => {
    const results = [
      [CommandResult.COMMAND_RESULT_FAILED, 'failed'],
      [CommandResult.COMMAND_RESULT_REFUSED, 'refused'],
    ] as const
    for (const [result, state] of results) {
      const { id } = await asked(await failedSaga(state), { kind: 'retry' })
      const token = (await first().lease(service))[0]?.leaseToken
      await first().acknowledge(token, result, 'because')
      await second().acknowledge(token, result, 'because')
      expect(await codeOf(first().acknowledge(token))).toBe(status.FAILED_PRECONDITION)
      expect(await shown(id)).toMatchObject({ state, message: 'because' })
    }
  })

  it('is leased by one of many parallel calls, on any replica', async () => {
    const ids = []
    for (let n = 0; n < 12; n += 1) ids.push((await asked(await failedSaga(`${n}`), { kind: 'cancel' })).id)
    const leased = await Promise.all(
      Array.from({ length: 10 }, (_, n) => orchestrators[n % 2]?.lease(service, { max: 3 })),
    )
    const got = leased.flat().map((command) => command?.id)
    expect(got.sort()).toEqual(ids.sort())
  })

  it('wakes a waiting call, and a call whose caller has disconnected takes none', async () => {
    const sagaId = await failedSaga()
    const waiting = first().lease(service, { waitSeconds: 20 })
    const elsewhere = second().lease(`${service}-other`, { waitSeconds: 1 })
    const { id } = await asked(sagaId, { kind: 'cancel' })
    expect((await waiting).map((command) => command.id)).toEqual([id])
    expect(await elsewhere).toEqual([])

    const gone = openOrchestrator(harness.grpcPort, tokens.reporter)
    const given = gone.lease(service, { waitSeconds: 20 })
    gone.close()
    expect(await codeOf(given)).not.toBe(status.OK)
    const next = await asked(await failedSaga('b'), { kind: 'cancel' })
    await expect
      .poll(async () => (await first().lease(service, { waitSeconds: 1 })).map((command) => command.id))
      .toEqual([next.id])
  })
})

describe('a lease that ends without an answer', () => {
  it('leaves the command unknown: nobody receives it, and a late answer still counts', async () => {
    const { id } = await asked(await failedSaga(), { kind: 'cancel' })
    const token = (await first().lease(service))[0]?.leaseToken
    await pass(61)
    expect(await second().lease(service)).toEqual([])
    expect(await shown(id)).toMatchObject({ state: 'unknown', ended_at: expect.any(String) })
    expect(await codeOf(first().acknowledge(token, CommandResult.COMMAND_RESULT_RETURNED))).toBe(
      status.FAILED_PRECONDITION,
    )
    await first().acknowledge(token, CommandResult.COMMAND_RESULT_FAILED, 'late')
    expect(await shown(id)).toMatchObject({ state: 'failed', message: 'late' })
  })

  it('has its command delivered again only when a person says so, and never claims that it had no effect', async () => {
    const { id } = await asked(await failedSaga(), { kind: 'cancel' })
    const token = (await first().lease(service))[0]?.leaseToken
    await pass(61)
    const again = () => call('POST', `commands/${id}/deliver_again`, tokens.administrator)
    expect((await again()).body).toMatchObject({ state: 'pending', deliveries: 1 })
    expect((await again()).status).toBe(409)
    // The command expires without another lease.
    await pass(3601)
    expect(await shown(id)).toMatchObject({ state: 'unknown' })
    await again()
    expect((await call('POST', `commands/${id}/withdraw`, tokens.administrator)).body).toMatchObject({
      state: 'unknown',
    })
    await again()
    const [leased] = await second().lease(service)
    expect(leased).toMatchObject({ id, delivery: 2 })
    expect(await codeOf(first().acknowledge(token))).toBe(status.FAILED_PRECONDITION)
    await second().acknowledge(leased?.leaseToken)
    expect(await shown(id)).toMatchObject({ state: 'succeeded', deliveries: 2 })
    const audited = await harness.database.prisma.auditEvent.findMany({
      where: { entityType: 'SagaCommand', entityId: id },
      orderBy: { id: 'asc' },
    })
    expect(audited[0]?.details).toMatchObject({ kind: 'cancel', reason: 'the bank is back' })
    expect(audited.map(({ eventName }) => eventName)).toEqual([
      'saga_command_cancel',
      'saga_command_delivered_again',
      'saga_command_delivered_again',
      'saga_command_withdrawn',
      'saga_command_delivered_again',
    ])
  })

  it('prevents a second delivery after a late answer', async () => {
    const { id } = await asked(await failedSaga(), { kind: 'cancel' })
    const token = (await first().lease(service))[0]?.leaseToken
    await pass(61)
    await call('POST', `commands/${id}/deliver_again`, tokens.administrator)
    await first().acknowledge(token)
    expect(await second().lease(service)).toEqual([])
    expect(await shown(id)).toMatchObject({ state: 'succeeded', deliveries: 1 })
  })
})

describe('a command without a lease', () => {
  it('expires, or is withdrawn, and then the saga can have another one', async () => {
    const sagaId = await failedSaga()
    const { id } = await asked(sagaId, { kind: 'cancel', expires_in: 10 })
    expect(await ask(sagaId, { kind: 'compensate' })).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('has a command that has not ended') },
    })
    await pass(11)
    expect(await first().lease(service)).toEqual([])
    expect(await shown(id)).toMatchObject({ state: 'expired' })
    const next = await asked(sagaId, { kind: 'compensate' })
    const withdrawn = await call('POST', `commands/${next.id}/withdraw`, tokens.administrator)
    expect(withdrawn).toMatchObject({ status: 200, body: { state: 'withdrawn' } })
    expect(await first().lease(service)).toEqual([])
    for (const decision of ['withdraw', 'approve', 'deny', 'deliver_again'])
      expect((await call('POST', `commands/${next.id}/${decision}`, tokens.administrator)).status).toBe(
        decision === 'approve' ? 403 : 409,
      )
    const list = await call('GET', `${sagaId}/commands`, tokens.reader)
    expect(list.body.map((command: Shown) => command.state)).toEqual(['withdrawn', 'expired'])
    const found = await call('GET', `commands?state=expired&service_name=${service}`, tokens.reader)
    expect(found.body.map((command: Shown) => command.id)).toEqual([id])
  })
})

describe('an invalid request', () => {
  it('of an operator is refused and stores nothing', async () => {
    const sagaId = await failedSaga()
    const bad = [
      { kind: 'stop' },
      { kind: 'retry', reason: '' },
      { kind: 'retry', reason: 'x'.repeat(1001) },
      { kind: 'retry', reason: 'a\0b' },
      { kind: 'cancel', activity_id: `${sagaId}-2` },
      { kind: 'cancel', expires_in: 9 },
      { kind: 'cancel', expires_in: 604_801 },
      { kind: 'cancel', unknown: 1 },
      {},
    ]
    for (const body of bad) expect([body, (await ask(sagaId, body)).status]).toEqual([body, 400])
    expect((await ask(sagaId, { kind: 'cancel' }, null)).status).toBe(401)
    for (const token of [tokens.reader, tokens.reporter, tokens.user])
      expect((await ask(sagaId, { kind: 'cancel' }, token)).status).toBe(403)
    expect((await ask('nobody', { kind: 'cancel' })).status).toBe(404)
    expect((await ask(sagaId, { kind: 'retry', activity_id: 'nothing' })).status).toBe(404)
    expect((await call('GET', `${sagaId}/commands`, null)).status).toBe(401)
    expect((await call('GET', `${sagaId}/commands`, tokens.user)).status).toBe(403)
    expect((await call('GET', `${sagaId}/commands`, tokens.reader)).body).toEqual([])
    const missing = '6b7e1f3c-0000-4000-8000-000000000000'
    expect((await call('GET', `commands/${missing}`, tokens.reader)).status).toBe(404)
    expect((await call('GET', 'commands/x', tokens.reader)).status).toBe(400)
    for (const decision of ['approve', 'deny', 'withdraw', 'deliver_again']) {
      expect((await call('POST', `commands/${missing}/${decision}`, tokens.administrator)).status).toBe(404)
      expect((await call('POST', `commands/${missing}/${decision}`, tokens.reader)).status).toBe(403)
      expect((await call('POST', `commands/${missing}/${decision}`, null)).status).toBe(401)
    }
  })

  it('about a saga without a service or without a current step is refused', async () => {
    const metadata = { 'private-token': tokens.reporter }
    const nameless = `${service}-nameless`
    await harness.grpc.report(
      'ActivityExecuteStarted',
      { sagaId: nameless, activityId: nameless },
      { metadata },
    )
    expect((await ask(nameless, { kind: 'cancel' })).status).toBe(409)
    const fine = `${service}-fine`
    await harness.grpc.report('SagaStarted', { sagaId: fine, serviceName: service }, { metadata })
    expect((await ask(fine, { kind: 'retry' })).status).toBe(409)
    expect((await ask(fine, { kind: 'cancel' })).status).toBe(201)
  })

  it('about a step that has succeeded, or a saga that has ended, is refused with the reason', async () => {
    const sagaId = await failedSaga()
    const refusalOf = async (body: object) => {
      const { status: code, body: answer } = await ask(sagaId, body)
      return `${code} ${answer.message}`
    }
    const done = { activity_id: `${sagaId}-1` }
    expect(await refusalOf({ kind: 'retry', ...done })).toMatch(/^409 The step is Executed, .* to retry$/)
    expect(await refusalOf({ kind: 'skip', ...done })).toMatch(/^409 The step is Executed, .* to skip$/)
    const metadata = { 'private-token': tokens.reporter }
    await harness.grpc.report('SagaEnded', { sagaId, serviceName: service }, { metadata })
    for (const kind of ['retry', 'skip', 'cancel'])
      expect(await refusalOf({ kind })).toMatch(/^409 The saga has ended/)
    expect((await ask(sagaId, { kind: 'compensate' })).status).toBe(201)
  })

  it('of an orchestrator is refused', async () => {
    const wrong = [
      { serviceName: ' ' },
      { serviceName: 'a\0' },
      { max: 101 },
      { max: -1 },
      { leaseSeconds: 3601 },
      { waitSeconds: 61 },
      { waitSeconds: -1 },
    ]
    for (const given of wrong)
      expect([given, await codeOf(first().lease(service, given))]).toEqual([given, status.INVALID_ARGUMENT])
    expect(await codeOf(first().lease(service, {}, null))).toBe(status.UNAUTHENTICATED)
    expect(await codeOf(first().lease(service, {}, tokens.reader))).toBe(status.PERMISSION_DENIED)
    expect(await codeOf(first().acknowledge('x', undefined, '', null))).toBe(status.UNAUTHENTICATED)
    expect(await codeOf(first().acknowledge('x', undefined, '', tokens.reader))).toBe(
      status.PERMISSION_DENIED,
    )
    expect(await codeOf(first().acknowledge('x'))).toBe(status.FAILED_PRECONDITION)
    expect(await codeOf(first().acknowledge('6b7e1f3c-0000-4000-8000-000000000000'))).toBe(
      status.FAILED_PRECONDITION,
    )
    expect(await codeOf(first().acknowledge('x', CommandResult.COMMAND_RESULT_UNSPECIFIED))).toBe(
      status.INVALID_ARGUMENT,
    )
  })

  it('with a token that is bound to another tenant finds neither the command nor its lease', async () => {
    const user = await createUser(harness.database)
    const { secret } = await createToken(harness.database, user, {
      scopes: ['saga_report'],
      tenants: ['acme'],
    })
    await asked(await failedSaga(), { kind: 'cancel' })
    expect(await codeOf(first().lease(service, { tenant: 'default' }, secret))).toBe(status.PERMISSION_DENIED)
    expect(await first().lease(service, {}, secret)).toEqual([])
    const token = (await first().lease(service))[0]?.leaseToken
    expect(await codeOf(first().acknowledge(token, undefined, '', secret))).toBe(status.FAILED_PRECONDITION)
  })
})

describe('while the rows of commands are locked for longer than a statement may take', () => {
  it('a lease and an answer are unavailable, so that the orchestrator tries again, and the lease still counts', async () => {
    await asked(await failedSaga(), { kind: 'cancel' })
    const token = (await first().lease(service))[0]?.leaseToken
    const limited = await startService(harness.serviceUrl, {
      SAGA_AUTH: 'token',
      DATABASE_READ_TIMEOUT_MS: '500',
    })
    const orchestrator = openOrchestrator(limited.grpcPort, tokens.reporter)
    const locking = await harness.database.pool.connect()
    try {
      await locking.query('BEGIN; LOCK TABLE saga_commands IN ACCESS EXCLUSIVE MODE')
      expect(await codeOf(orchestrator.lease(service))).toBe(status.UNAVAILABLE)
      expect(await codeOf(orchestrator.acknowledge(token))).toBe(status.UNAVAILABLE)
      await locking.query('ROLLBACK')
      expect(await codeOf(orchestrator.acknowledge(token))).toBe(status.OK)
    } finally {
      await locking.query('ROLLBACK')
      locking.release()
      orchestrator.close()
      await limited.close()
    }
  })
})
