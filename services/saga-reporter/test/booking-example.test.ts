import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { createTokens, startHarness } from './harness.js'

const main = resolve(import.meta.dirname, '../../../examples/booking-saga/src/main.ts')

interface Shown {
  service_name: string
  status: string
  outcome: string
  activities: { order: number; status: string }[]
}

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
