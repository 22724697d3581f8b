import { CommandRefused, CommandReturned, createSagaClient, type SagaCommand } from '@switchyard/saga-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTokens, startHarness } from '../harness.js'
import { openOperator, type Shown } from './command-clients.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let tokens: Awaited<ReturnType<typeof createTokens>>
let call: ReturnType<typeof openOperator>
const closing: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  harness = await startHarness({ SAGA_AUTH: 'token' })
  tokens = await createTokens(harness.database)
  call = openOperator(harness.baseUrl)
})
afterAll(async () => {
  await Promise.all(closing.map((close) => close()))
  await harness?.close()
})

function orchestrator(serviceName: string) {
  const client = createSagaClient({
    address: `127.0.0.1:${harness.grpcPort}`,
    serviceName,
    token: tokens.reporter,
    retryDelayMs: 20,
    retryDelayMsMax: 200,
  })
  closing.push(() => client.close(0))
  return client
}

async function ask(sagaId: string, kind: string): Promise<Shown> {
  const { status, body } = await call('POST', `${sagaId}/commands`, tokens.administrator, {
    kind,
    reason: 'told so',
  })
  expect([status, body]).toEqual([201, expect.anything()])
  return body
}
const shown = async (id: string): Promise<Shown> =>
  (await call('GET', `commands/${id}`, tokens.administrator)).body
const answered = (id: string) => expect.poll(() => shown(id))

describe('an orchestrator with handlers', () => {
  it("executes operators' commands, and reports their outcome", async () => {
    const client = orchestrator('handled')
    const given: SagaCommand[] = []
    client.onCommand({
      retry: (command) => {
        given.push(command)
        return 'booked again'
      },
      compensate: () => {
        throw new Error('the bank is closed')
      },
      cancel: () => {
        throw new CommandRefused('it has ended')
      },
    })
    await client.sagaStarted({ sagaId: 'h' })
    await client.activityExecuteStarted({ sagaId: 'h', activityId: 'h-1', order: 0 })
    const retry = await ask('h', 'retry')
    await answered(retry.id).toMatchObject({ state: 'succeeded', message: 'booked again' })
    expect(given).toMatchObject([
      { id: retry.id, sagaId: 'h', activityId: 'h-1', reason: 'told so', delivery: 1 },
    ])
    const compensate = await ask('h', 'compensate')
    await answered(compensate.id).toMatchObject({
      state: 'failed',
      message: expect.stringContaining('the bank is closed'),
    })
    const cancel = await ask('h', 'cancel')
    await answered(cancel.id).toMatchObject({ state: 'refused', message: 'it has ended' })
    const skip = await ask('h', 'skip')
    await answered(skip.id).toMatchObject({
      state: 'refused',
      message: 'this orchestrator does not handle skip',
    })
  })

  it('answers a second delivery from its memory, without a second effect', async () => {
    const client = orchestrator('remembered')
    let effects = 0
    client.onCommand({ cancel: () => `effect ${++effects}` })
    await client.sagaStarted({ sagaId: 'r' })
    const { id } = await ask('r', 'cancel')
    await answered(id).toMatchObject({ state: 'succeeded' })
    // Simulates a lost answer.
    await harness.database.pool.query(
      "UPDATE saga_commands SET state = 'unknown', doubtful = true, message = NULL WHERE id = $1",
      [id],
    )
    await call('POST', `commands/${id}/deliver_again`, tokens.administrator)
    await answered(id).toMatchObject({ state: 'succeeded', deliveries: 2, message: 'effect 1' })
    expect(effects).toBe(1)
  })

  it('returns a command for another process, which receives it, and leases a command that nobody wants only once', async () => {
    const given: string[] = []
    const process = (name: string, own: string) =>
      orchestrator('shared').onCommand({
        cancel: ({ sagaId }) => {
          given.push(`${name} ${sagaId}`)
          if (sagaId !== own) throw new CommandReturned(`${name} does not have it`)
        },
      })
    process('one', 's-1')
    process('two', 's-2')
    process('three', 's-3')
    const reporting = orchestrator('shared')
    const sagas = ['s-1', 's-2', 's-3', 'nobodys']
    for (const sagaId of sagas) await reporting.sagaStarted({ sagaId })
    const nobodys = await ask('nobodys', 'cancel')
    await expect.poll(() => given.filter((each) => each.endsWith(' nobodys')).length).toBe(3)
    // Other commands continue behind one that stays.
    const commands = await Promise.all(sagas.slice(0, 3).map((sagaId) => ask(sagaId, 'cancel')))
    for (const { id } of commands) await answered(id).toMatchObject({ state: 'succeeded', deliveries: 1 })
    expect(new Set(given).size).toBe(given.length)
    expect(await shown(nobodys.id)).toMatchObject({
      state: 'pending',
      deliveries: 0,
      message: expect.stringMatching(/^(one|two|three) does not have it$/),
    })
  })

  it('finishes the current command when it closes, and takes no other', async () => {
    const client = orchestrator('closing')
    let finish = () => {}
    const begun = new Promise<void>((resolve) => {
      client.onCommand({
        cancel: async () => {
          resolve()
          await new Promise<void>((done) => {
            finish = done
          })
        },
      })
    })
    await client.sagaStarted({ sagaId: 'c-1' })
    await client.sagaStarted({ sagaId: 'c-2' })
    const { id } = await ask('c-1', 'cancel')
    await begun
    const closed = client.close()
    const next = await ask('c-2', 'cancel')
    finish()
    await closed
    expect(await shown(id)).toMatchObject({ state: 'succeeded' })
    expect(await shown(next.id)).toMatchObject({ state: 'pending', deliveries: 0 })
    expect(() => client.onCommand({})).toThrow('the client is closed')
  })

  it('needs handlers, and reports problems', async () => {
    const client = orchestrator('problems')
    expect(() => client.onCommand(undefined as never)).toThrow(TypeError)
    const stranger = createSagaClient({
      address: `127.0.0.1:${harness.grpcPort}`,
      serviceName: 'problems',
      token: 'glpat-unknown',
    })
    closing.push(() => stranger.close(0))
    const problem = await new Promise<Error>((resolve) => {
      stranger.onCommand({}, { onProblem: resolve })
    })
    expect(problem.message).toContain('UNAUTHENTICATED')
  })
})
