import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reportAll } from '../grpc-client.js'
import { createTokens, startHarness } from '../harness.js'
import { createSagas, minute } from '../saga-rows.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let tokens: Awaited<ReturnType<typeof createTokens>>

beforeAll(async () => {
  harness = await startHarness()
  tokens = await createTokens(harness.database)
  await createSagas(harness.database, [
    { id: 'order/1', firstSeenAt: minute(1), status: 'Error' },
    { id: 'theirs', tenant: 'acme', firstSeenAt: minute(1) },
  ])
})
afterAll(() => harness.close())

const post = (path: string, body: object, token: keyof typeof tokens | null = 'administrator') =>
  fetch(`${harness.baseUrl}/api/v4/sagas/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(token && { 'PRIVATE-TOKEN': tokens[token] }) },
    body: JSON.stringify(body),
  })

const notesOf = async (path: string) => {
  const response = await fetch(`${harness.baseUrl}/api/v4/sagas/${path}`, {
    headers: { 'PRIVATE-TOKEN': tokens.reader },
  })
  return ((await response.json()) as { notes: object[] }).notes
}

describe('POST /sagas/:id/notes', () => {
  it('adds the notes of administrators in their order', async () => {
    const response = await post('order%2F1/notes', { body: 'Called the bank.' })
    expect(response.status).toBe(201)
    const note = await response.json()
    expect(note).toEqual({
      id: expect.any(Number),
      author: { id: expect.any(Number), username: expect.any(String) },
      body: 'Called the bank.',
      created_at: expect.stringMatching(/Z$/),
    })
    await post('order%2F1/notes', { body: 'They paid back.' })
    expect(await notesOf('order%2F1')).toEqual([note, expect.objectContaining({ body: 'They paid back.' })])
    expect((await post('theirs/notes?tenant=acme', { body: 'x' })).status).toBe(201)
    expect(await notesOf('theirs?tenant=acme')).toHaveLength(1)
  })

  it.each([
    [{}, 'body is missing'],
    [{ body: '  ' }, 'body is empty'],
    [{ body: 'x'.repeat(10_001) }, 'body is too long (maximum is 10000 characters)'],
  ])('answers 400 for a bad body', async (body, error) => {
    const response = await post('order%2F1/notes', body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error })
  })

  it('needs an administrator with the whole API', async () => {
    expect((await post('order%2F1/notes', { body: 'x' }, null)).status).toBe(401)
    expect((await post('order%2F1/notes', { body: 'x' }, 'reader')).status).toBe(403)
    expect((await post('order%2F1/notes', { body: 'x' }, 'user')).status).toBe(403)
  })

  it('answers 404 for an unknown saga, and for one of another tenant', async () => {
    expect((await post('none/notes', { body: 'x' })).status).toBe(404)
    expect((await post('theirs/notes', { body: 'x' })).status).toBe(404)
  })
})

describe('POST /sagas/:id/resolve', () => {
  const failing = async (id: string) => {
    await reportAll(harness.grpc, [
      ['SagaStarted', { sagaId: id, serviceName: 'booking' }],
      ['ActivityExecuteStarted', { activityId: `${id}-a`, sagaId: id, order: 0 }],
      ['ActivityCompensateAborted', { activityId: `${id}-a`, sagaId: id, errors: 'bank is closed' }],
      ['SagaEnded', { sagaId: id }],
    ])
  }

  it('resolves the failures so far, and shows by whom and why', async () => {
    await failing('failed')
    const response = await post('failed/resolve', { note: 'Paid back by hand.' })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      saga_id: 'failed',
      status: 'Ended',
      resolution: { at: expect.stringMatching(/Z$/), by: expect.any(String), note: 'Paid back by hand.' },
    })
    const events = await fetch(`${harness.baseUrl}/api/v4/sagas/failed/events`, {
      headers: { 'PRIVATE-TOKEN': tokens.reader },
    })
    expect(((await events.json()) as object[]).at(-1)).toMatchObject({
      operation: 'OperatorResolved',
      request: { saga_id: 'failed', note: 'Paid back by hand.' },
    })
  })

  it('resolves a later failure too, even with the same note', async () => {
    await failing('again')
    expect((await post('again/resolve', { note: 'Done.' })).status).toBe(200)
    await reportAll(harness.grpc, [
      ['ActivityCompensateAborted', { activityId: 'again-b', sagaId: 'again', errors: 'still closed' }],
    ])
    const response = await post('again/resolve', { note: 'Done.' })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ status: 'Ended' })
  })

  it('answers 409 when there is nothing to resolve', async () => {
    await reportAll(harness.grpc, [['SagaStarted', { sagaId: 'fine', serviceName: 'booking' }]])
    const response = await post('fine/resolve', { note: 'x' })
    expect(response.status).toBe(409)
    expect(await response.json()).toMatchObject({
      message: 'There is nothing to resolve: the saga is Started',
    })
  })

  it('answers 400 without a note, 401, 403 and 404', async () => {
    expect(await (await post('order%2F1/resolve', {})).json()).toMatchObject({ error: 'note is missing' })
    expect((await post('order%2F1/resolve', { note: 'x' }, null)).status).toBe(401)
    expect((await post('order%2F1/resolve', { note: 'x' }, 'reader')).status).toBe(403)
    expect((await post('none/resolve', { note: 'x' })).status).toBe(404)
  })
})
