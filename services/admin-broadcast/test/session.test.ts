import { createSession, createToken, createUser } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startHarness } from './harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let cookie: string
beforeAll(async () => {
  harness = await startHarness()
  cookie = await sessionOf({ admin: true })
})
afterAll(() => harness?.close())

async function sessionOf(given: { admin: boolean }): Promise<string> {
  const { token } = await createToken(harness.database, await createUser(harness.database, given))
  return createSession(harness.database, token)
}

const ask = (method: string, path: string, headers: Record<string, string>, fields?: object) =>
  fetch(`${harness.baseUrl}/api/v4/broadcast_messages${path}`, {
    method,
    headers: { ...headers, ...(fields && { 'Content-Type': 'application/json' }) },
    ...(fields && { body: JSON.stringify(fields) }),
  })
const statusOf = async (...request: Parameters<typeof ask>) => (await ask(...request)).status
const own = { 'Sec-Fetch-Site': 'same-origin' }

it('the session of an administrator manages messages, the session of another user does not', async () => {
  expect(await statusOf('GET', '', { Cookie: cookie })).toBe(200)
  const made = await ask('POST', '', { Cookie: cookie, ...own }, { message: 'Hello' })
  expect(made.status).toBe(201)
  const { id } = (await made.json()) as { id: number }
  const user = await sessionOf({ admin: false })
  expect(await statusOf('DELETE', `/${id}`, { Cookie: user, ...own })).toBe(403)
  expect(await statusOf('DELETE', `/${id}`, { Cookie: cookie, ...own })).toBe(204)
})

it('a page of another origin cannot change anything with the cookie', async () => {
  const pages: Record<string, string>[] = [
    { 'Sec-Fetch-Site': 'cross-site' },
    { Origin: 'https://evil.example' },
    {},
  ]
  for (const foreign of pages)
    expect(await statusOf('POST', '', { Cookie: cookie, ...foreign }, { message: 'Foreign' })).toBe(403)
  const listed = await (await ask('GET', '', { Cookie: cookie })).text()
  expect(listed).not.toContain('Foreign')
})

it('a session that was signed out is no longer valid', async () => {
  const ending = await sessionOf({ admin: true })
  expect(await statusOf('GET', '', { Cookie: ending })).toBe(200)
  const newest = await harness.database.prisma.session.findFirstOrThrow({ orderBy: { id: 'desc' } })
  await harness.database.prisma.session.delete({ where: { id: newest.id } })
  expect(await statusOf('GET', '', { Cookie: ending })).toBe(401)
  expect(await statusOf('GET', '/active', { Cookie: ending })).toBe(200)
})
