import { afterAll, beforeAll, expect, it } from 'vitest'
import { json, startHarness } from './harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const path = '/broadcast_messages'
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()

async function made() {
  const body = json({ message: 'zero', starts_at: inHours(0), ends_at: inHours(1) })
  const answer = await harness.send('admin', 'POST', path, body)
  return `${path}/${((await answer.json()) as { id: number }).id}`
}

const put = (one: string, message: string, headers: Record<string, string>) => {
  const init = json({ message })
  return harness.send('admin', 'PUT', one, { ...init, headers: { ...init.headers, ...headers } })
}

const readTag = async (one: string) => (await harness.send('admin', 'GET', one)).headers.get('ETag') ?? ''

it('a message is changed in the version that was read, once', async () => {
  const one = await made()
  const etag = await readTag(one)
  const answers = await Promise.all(['one', 'two'].map((text) => put(one, text, { 'If-Match': etag })))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 412])
  const [changed] = answers.filter(({ status }) => status === 200)
  if (!changed) throw new Error('no change was made')
  const { message } = (await changed.json()) as { message: string }
  expect(await (await harness.send('admin', 'GET', one)).json()).toMatchObject({ message })
  const next = changed.headers.get('ETag') ?? ''
  expect(next).toBe(await readTag(one))
  expect((await put(one, 'three', { 'If-Match': next })).status).toBe(200)
})

it('a message that has changed meanwhile is neither changed nor deleted', async () => {
  const one = await made()
  const etag = await readTag(one)
  await put(one, 'meanwhile', {})
  const longAgo = { 'If-Unmodified-Since': new Date(Date.now() - 60_000).toUTCString() }
  expect((await put(one, 'late', longAgo)).status).toBe(412)
  expect((await put(one, 'late', { 'If-Match': etag })).status).toBe(412)
  const deleted = await harness.send('admin', 'DELETE', one, { headers: { 'If-Match': etag } })
  expect(deleted.status).toBe(412)
  expect(await (await harness.send('admin', 'GET', one)).json()).toMatchObject({ message: 'meanwhile' })
})
