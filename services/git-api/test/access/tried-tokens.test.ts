import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, json, startHarness } from '../harness.js'

let harness: Harness
let base: string

beforeAll(async () => {
  // Without Redis, which may answer too late on a busy machine, the process counts every attempt.
  harness = await startHarness()
  base = await harness.start({ RATE_LIMIT_PER_MINUTE: '6000' })
  await harness.send('owner', 'POST', '/projects', json({ path: 'shared' }))
})
afterAll(() => harness?.close())

const basic = (secret: string) => ({ Authorization: `Basic ${btoa(`any:${secret}`)}` })
const oid = createHash('sha256').update('object').digest('hex')

/** The ways of signing in, each with its answer to a token. */
const ways: Record<string, (secret: string) => Promise<Response>> = {
  API: (secret) => harness.send(secret, 'GET', '/user', {}, base),
  'sign-in': (secret) =>
    fetch(`${base}/api/v4/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Sec-Fetch-Site': 'same-origin' },
      body: JSON.stringify({ token: secret }),
    }),
  git: (secret) =>
    fetch(`${base}/Owner/shared.git/info/refs?service=git-receive-pack`, { headers: basic(secret) }),
  LFS: (secret) =>
    fetch(`${base}/Owner/shared.git/info/lfs/objects/batch`, {
      method: 'POST',
      headers: { ...basic(secret), 'Content-Type': 'application/vnd.git-lfs+json' },
      body: JSON.stringify({ operation: 'upload', transfers: ['basic'], objects: [{ oid, size: 6 }] }),
    }),
}
const ask = async (way: string, secret: string) => (await ways[way]?.(secret))?.status

test('unknown session cookies do not block a browser at their address', async () => {
  const ask = (cookie: string, path = '/user') =>
    fetch(`${base}/api/v4${path}`, { headers: { Cookie: cookie } })
  const random = (index: number) => `switchyard_session=${String(index).padStart(43, 'x')}`
  for (let tries = 0; tries < 70; tries += 1) expect((await ask(random(tries))).status).toBe(401)
  // A browser sends the cookie of its ended session when it reads public pages, and when it signs in again.
  expect((await ask(random(99), '/projects')).status).toBe(200)
  const signIn = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Sec-Fetch-Site': 'same-origin', Cookie: random(100) },
    body: JSON.stringify({ token: harness.tokens.owner }),
  }
  const signedIn = await fetch(`${base}/api/v4/session`, signIn)
  expect(signedIn.status).toBe(201)
  const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  expect((await ask(cookie)).status).toBe(200)
})

test('60 unknown tokens from an address block further unknown tokens there, but no valid one', async () => {
  // Each way gets its own token, which this process has not seen yet.
  const tokens = await Promise.all(Object.keys(ways).map(() => harness.secretOf(harness.users.owner)))
  for (let tries = 0; tries < 60; tries += 1) expect(await ask('API', `glpat-wrong-${tries}`)).toBe(401)
  for (const [index, way] of Object.keys(ways).entries()) {
    expect(await ask(way, `glpat-further-${index}`)).toBe(429)
    expect(await ask(way, tokens[index] ?? '')).toBe(way === 'sign-in' ? 201 : 200)
  }
})
