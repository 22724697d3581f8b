import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { openOperator } from './commands/command-clients.js'
import { createTokens, startHarness } from './harness.js'

const main = resolve(import.meta.dirname, '../../../examples/booking-saga/src/main.ts')

interface Shown {
  service_name: string
  status: string
  outcome: string
  activities: { order: number; status: string }[]
}

it('the example obeys operators', async () => {
  const harness = await startHarness({ SAGA_AUTH: 'token' })
  const tokens = await createTokens(harness.database)
  const call = openOperator(harness.baseUrl)
  const example = spawn(process.execPath, ['--import', 'tsx', main], {
    env: {
      ...process.env,
      SAGA_ADDRESS: `127.0.0.1:${harness.grpcPort}`,
      SAGA_TOKEN: tokens.reporter,
      BOOKING_STAYS: 'true',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(example, 'exit')
  try {
    const ids: string[] = []
    for await (const line of createInterface({ input: example.stdout })) {
      ids.push(line.split('/').at(-1) ?? '')
      if (ids.length === 3) break
    }
    const [booked, , stuck] = ids
    const command = async (sagaId: string | undefined, kind: string) => {
      const asked = { kind, reason: 'Please' }
      // The example reports what happens without waiting for it.
      await expect
        .poll(async () => (await call('POST', `${sagaId}/commands`, tokens.administrator, asked)).status)
        .toBe(201)
      const commands = async () => (await call('GET', `${sagaId}/commands`, tokens.administrator)).body
      await expect.poll(async () => (await commands())[0].ended_at).not.toBeNull()
      return (await commands())[0]
    }
    await expect
      .poll(async () => (await call('GET', `${stuck}`, tokens.administrator)).body.status)
      .toBe('Error')
    expect(await command(stuck, 'cancel')).toMatchObject({ state: 'refused', message: 'the trip is stuck' })
    await expect
      .poll(async () => (await call('GET', `${booked}`, tokens.administrator)).body.status)
      .toBe('Ended')
    const late = { kind: 'cancel', reason: 'Please' }
    expect((await call('POST', `${booked}/commands`, tokens.administrator, late)).status).toBe(409)
    expect(await command(booked, 'compensate')).toMatchObject({ state: 'succeeded' })
    expect(await command(stuck, 'retry')).toMatchObject({
      state: 'succeeded',
      message: 'the trip is compensated',
    })
    for (const sagaId of [booked, stuck])
      await expect
        .poll(async () => (await call('GET', `${sagaId}`, tokens.administrator)).body)
        .toMatchObject({ status: 'Ended', outcome: 'compensated' })
  } finally {
    example.kill()
    expect(await ended).toEqual([0, null])
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
      timeout: 25_000,
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
