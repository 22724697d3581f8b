import { openDocumentedApi } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startHarness } from './harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let api: Awaited<ReturnType<typeof openDocumentedApi>>

beforeAll(async () => {
  harness = await startHarness()
  api = await openDocumentedApi(harness.baseUrl, harness.tokens.admin)
})
afterAll(() => harness?.close())

it('every operation answers as documented', async () => {
  const message = { message: 'Back soon', starts_at: '2020-01-01T00:00:00Z', ends_at: '2999-01-01T00:00:00Z' }
  const created = await api.call('POST /broadcast_messages', { body: message })
  const path = { id: (created.body as { id: number }).id }
  await api.call('GET /broadcast_messages')
  await api.call('GET /broadcast_messages/{id}', { path })
  await api.call('PUT /broadcast_messages/{id}', { path, body: { target_path: '/shop/*' } })
  await expect
    .poll(async () => (await api.call('GET /broadcast_messages/active', { token: null })).body)
    .toMatchObject([{ id: path.id, target_path: '/shop/*' }])
  await api.call('GET /broadcast_messages/stream', { token: null })
  await api.call('GET /broadcast_messages/banner.js', { token: null })
  await api.call('DELETE /broadcast_messages/{id}', { path })
  expect(api.uncalled()).toEqual([])
})

it('refusals match the documentation', async () => {
  const statuses = async (calls: ReturnType<typeof api.call>[]) =>
    (await Promise.all(calls)).map(({ status }) => status)
  expect(
    await statuses([
      api.call('POST /broadcast_messages', { body: { color: 'x' } }),
      api.call('POST /broadcast_messages', { body: { message: 'x', color: 'no color' } }),
      api.call('GET /broadcast_messages', { token: harness.tokens.unknown }),
      api.call('GET /broadcast_messages', { token: harness.tokens.user }),
      api.call('POST /broadcast_messages', { token: harness.tokens.reader, body: { message: 'x' } }),
      api.call('GET /broadcast_messages/{id}', { path: { id: 1_000_000 } }),
    ]),
  ).toEqual([400, 400, 401, 403, 403, 404])
})
