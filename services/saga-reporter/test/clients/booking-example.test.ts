import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { openOperator } from '../commands/command-clients.js'
import { createTokens, startHarness } from '../harness.js'

const main = resolve(import.meta.dirname, '../../../../examples/booking-saga/src/main.ts')

interface Shown {
  service_name: string
  status: string
  outcome: string
  activities: { order: number; status: string }[]
}

/** Starts the example, which keeps running, and returns the ids of its trips: booked, compensated, stuck. */
async function startExample(environment: NodeJS.ProcessEnv) {
  const example = spawn(process.execPath, ['--import', 'tsx', main], {
    env: { ...process.env, ...environment, BOOKING_STAYS: 'true' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(example, 'exit')
  const ids: string[] = []
  for await (const line of createInterface({ input: example.stdout })) {
    ids.push(line.split('/').at(-1) ?? '')
    if (ids.length === 3) break
  }
  const stop = () => {
    example.kill()
    return ended
  }
  return { booked: ids[0] ?? '', stuck: ids[2] ?? '', stop }
}

it("each process of the example executes operators' commands for its own trips, even for a stuck one", async () => {
  const harness = await startHarness({ SAGA_AUTH: 'token' })
  const tokens = await createTokens(harness.database)
  const call = openOperator(harness.baseUrl)
  const environment = { SAGA_ADDRESS: `127.0.0.1:${harness.grpcPort}`, SAGA_TOKEN: tokens.reporter }
  const examples = await Promise.all([1, 2, 3, 4].map(() => startExample(environment)))
  try {
    const shown = async (sagaId: string) => (await call('GET', sagaId, tokens.administrator)).body
    const becomes = (sagaId: string, state: object) => expect.poll(() => shown(sagaId)).toMatchObject(state)
    const command = async (sagaId: string, kind: string) => {
      const asked = { kind, reason: 'Please' }
      const { status, body } = await call('POST', `${sagaId}/commands`, tokens.administrator, asked)
      expect(status).toBe(201)
      const answer = async () => (await call('GET', `commands/${body.id}`, tokens.administrator)).body
      await expect.poll(async () => (await answer()).ended_at).not.toBeNull()
      return answer()
    }
    // The example reports events without waiting for their answers.
    for (const { booked, stuck } of examples) {
      await becomes(booked, { status: 'Ended' })
      await becomes(stuck, { status: 'Error' })
    }
    const [first, second, third, fourth] = examples.map(({ stuck }) => stuck)
    const booked = examples.at(-1)?.booked ?? ''
    const late = { kind: 'cancel', reason: 'Please' }
    expect((await call('POST', `${booked}/commands`, tokens.administrator, late)).status).toBe(409)
    const undone = [
      [first, 'retry'],
      [second, 'compensate'],
      [third, 'cancel'],
      [fourth, 'skip'],
      [booked, 'compensate'],
    ] as const
    for (const [sagaId = '', kind] of undone) {
      const but = kind === 'skip' ? ', but for the step that was skipped: somebody else undoes it' : ''
      expect(await command(sagaId, kind)).toMatchObject({
        state: 'succeeded',
        message: `the trip is compensated${but}`,
      })
      await becomes(sagaId, { status: 'Ended', outcome: 'compensated' })
    }
  } finally {
    for (const { stop } of examples) expect(await stop()).toEqual([0, null])
    await harness.close()
  }
})

it('the example books one trip and compensates the other, as its links show', async () => {
  const harness = await startHarness({ SAGA_AUTH: 'token' })
  try {
    const tokens = await createTokens(harness.database)
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--import', 'tsx', main], {
      env: {
        ...process.env,
        SAGA_ADDRESS: `127.0.0.1:${harness.grpcPort}`,
        SAGA_TOKEN: tokens.reporter,
        SWITCHYARD_URL: harness.baseUrl,
      },
      timeout: 300_000,
    })
    expect(stderr).toBe('')
    const links = [...stdout.matchAll(/^(booked|compensated).*: (http\S+)$/gm)]
    expect(links.map(([, said]) => said)).toEqual(['booked', 'compensated'])
    const sagas = await Promise.all(
      links.map(async ([, , link = '']) => {
        const response = await fetch(link, { headers: { 'PRIVATE-TOKEN': tokens.administrator } })
        expect(response.status).toBe(200)
        return (await response.json()) as Shown
      }),
    )
    const statuses = ({ activities }: Shown) =>
      [...activities].sort((a, b) => a.order - b.order).map(({ status }) => status)
    const [booked, compensated] = sagas
    expect(booked).toMatchObject({ service_name: 'booking', status: 'Ended', outcome: 'succeeded' })
    expect(booked && statuses(booked)).toEqual(['Executed', 'Executed', 'Executed'])
    expect(compensated).toMatchObject({ service_name: 'booking', status: 'Ended', outcome: 'compensated' })
    expect(compensated && statuses(compensated)).toEqual(['Compensated', 'Compensated', 'Compensated'])
  } finally {
    await harness.close()
  }
})
