import { waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { AcknowledgedWrites } from '../support/acknowledged-writes.js'
import { followFigures, followMessages, followSagaEvents, watchSagas } from './followers.js'
import { type Installation, startInstallation } from './installation.js'
import { startRequests } from './requests.js'

let installation: Installation

beforeAll(async () => {
  installation = await startInstallation()
})
afterAll(() => installation?.stop())

const missing = (wanted: string[], seen: Set<string>) => wanted.filter((id) => !seen.has(id))

it('the previous release runs on the new schema and is replaced, one by one, without a failed request, a lost write or a gap in a stream', async () => {
  const writes = await AcknowledgedWrites.start(installation, [
    'sagas',
    'batches',
    'httpBatches',
    'commits',
    'statuses',
    'pushes',
  ])
  const sagaFollowers = [followSagaEvents(installation), watchSagas(installation)]
  const followers = [...sagaFollowers, followMessages(installation), followFigures(installation)]
  const requests = await startRequests(installation)
  try {
    await installation.replaceEach()
    await requests.stop()
    await writes.stopAndExpectAll()

    const journals = [...writes.journals]
    const written = Object.fromEntries(
      journals.map(([kind, { acknowledged }]) => [kind, acknowledged.length]),
    )
    const connections = followers.map((follower) => follower.connections())
    console.log({ ...written, ...Object.fromEntries(requests.counts), connections })
    expect(journals.flatMap(([kind, { errors }]) => errors.map((error) => `${kind}: ${error}`))).toEqual([])
    expect(requests.failures).toEqual([])

    const sagas = ['sagas', 'batches', 'httpBatches'] as const
    const started = sagas.flatMap((kind) => writes.journals.get(kind)?.acknowledged ?? [])
    for (const { seen } of sagaFollowers)
      await waitFor(() => missing(started, seen).length === 0, { what: 'every saga in the streams' })
    const [messages] = followers.slice(2)
    await waitFor(() => missing(requests.messages, messages?.seen ?? new Set()).length === 0, {
      what: 'every message in the stream',
    })
    expect(followers.flatMap(({ failures }) => failures)).toEqual([])
    // Each follower of a replaced service loses its server at least once.
    for (const count of connections) expect(count).toBeGreaterThan(1)
  } finally {
    writes.close()
    await Promise.all([requests.stop(), ...followers.map((follower) => follower.stop())])
  }
})
