import { createToken, createUser } from '@switchyard/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTokens, startHarness } from '../harness.js'
import { openOperator, openOrchestrator, reportFailedSaga, type Shown } from './command-clients.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let tokens: Awaited<ReturnType<typeof createTokens>>
let orchestrator: ReturnType<typeof openOrchestrator>
let operator: ReturnType<typeof openOperator>
let other: { username: string; token: string }
let service = ''
let count = 0

beforeAll(async () => {
  harness = await startHarness({ SAGA_AUTH: 'token', SAGA_COMMANDS_APPROVAL: 'true' })
  tokens = await createTokens(harness.database)
  orchestrator = openOrchestrator(harness.grpcPort, tokens.reporter)
  operator = openOperator(harness.baseUrl)
  const user = await createUser(harness.database, { admin: true })
  other = { username: user.username, token: (await createToken(harness.database, user, {})).secret }
})
afterAll(async () => {
  orchestrator?.close()
  await harness?.close()
})
beforeEach(() => {
  count += 1
  service = `service-${count}`
})

const failedSaga = (name: string) => reportFailedSaga(harness.grpc, tokens.reporter, service, name)

/** Requests a command as an administrator who cannot approve it. */
async function asked(sagaId: string): Promise<Shown> {
  const body = { kind: 'cancel', reason: 'x' }
  return (await operator('POST', `${sagaId}/commands`, tokens.administrator, body)).body
}

describe('with approval by a second person, no orchestrator receives', () => {
  it('a command that another administrator has not approved yet', async () => {
    const command = await asked(await failedSaga('a'))
    const approve = (token: string) => operator('POST', `commands/${command.id}/approve`, token)
    expect(command.state).toBe('waiting_for_approval')
    expect(await orchestrator.lease(service)).toEqual([])
    expect((await approve(tokens.administrator)).status).toBe(403)
    expect((await approve(other.token)).body).toMatchObject({
      state: 'pending',
      decided_by: other.username,
      decided_at: expect.any(String),
    })
    expect((await approve(other.token)).status).toBe(409)
    expect(await orchestrator.lease(service)).toMatchObject([{ id: command.id }])
  })

  it('a command that another administrator has denied', async () => {
    const command = await asked(await failedSaga('a'))
    expect((await operator('POST', `commands/${command.id}/deny`, other.token)).body).toMatchObject({
      state: 'denied',
      decided_by: other.username,
      ended_at: expect.any(String),
    })
    expect(await orchestrator.lease(service)).toEqual([])
  })

  it('the commands of a batch that another administrator has not approved yet', async () => {
    const single = await asked(await failedSaga('single'))
    for (const name of ['a', 'b', 'c']) await failedSaga(`batch-${name}`)
    const filter = { service_name: service, id_prefix: `${service}-batch-` }
    const wish = { kind: 'cancel', reason: 'x', filter, expected_count: 3 }
    const batch = (await operator('POST', 'commands', other.token, wish)).body.batch_id
    const decide = (id: string, decision: string, token: string | null = tokens.administrator) =>
      operator('POST', `commands/batches/${id}/${decision}`, token)
    const [one] = (await operator('GET', `commands?batch_id=${batch}`, other.token)).body as Shown[]
    await operator('POST', `commands/${one?.id}/withdraw`, other.token)
    const refusals = [
      await decide(batch, 'approve', other.token),
      await decide(batch, 'deny', tokens.reader),
      await decide(batch, 'deny', null),
      await decide('x', 'deny'),
      await decide(single.id, 'deny'),
    ]
    expect(refusals.map((answer) => answer.status)).toEqual([403, 403, 401, 400, 404])
    expect(await orchestrator.lease(service)).toEqual([])
    expect(await decide(batch, 'approve')).toMatchObject({
      status: 200,
      body: { batch_id: batch, decided: 2, left_out: 1 },
    })
    expect((await decide(batch, 'approve')).status).toBe(409)
    expect(await orchestrator.lease(service, { max: 10 })).toHaveLength(2)
    const entries = await harness.database.prisma.auditEvent.findMany({
      where: { entityType: 'SagaCommandBatch' },
    })
    expect(entries).toMatchObject([
      {
        eventName: 'saga_command_batch_approved',
        entityId: batch,
        details: { tenant: 'default', kind: 'cancel', commands: 2 },
      },
    ])
  })
})
