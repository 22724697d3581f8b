import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, outcome, startHarness } from '../harness.js'
import { openBrowser } from './session-browser.js'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness?.close())

const { api, send, post, signIn, userOf, storedSessions } = openBrowser(() => harness)
const foreign = {
  status: 403,
  body: { message: '403 Forbidden - This request must come from a page of the same origin' },
}

describe('a request with a cookie that may change something', () => {
  const origins: [string, Record<string, string>, boolean][] = [
    ['comes from the same origin', { 'Sec-Fetch-Site': 'same-origin' }, true],
    ['comes from another port of the host', { 'Sec-Fetch-Site': 'same-site' }, false],
    ['comes from another site', { 'Sec-Fetch-Site': 'cross-site' }, false],
    ['comes from no page', { 'Sec-Fetch-Site': 'none' }, false],
    ['does not say where it comes from', {}, false],
    ['has a foreign origin', { Origin: 'https://evil.example' }, false],
    ['has an opaque origin', { Origin: 'null' }, false],
    ['has its own origin beside a foreign site', { Origin: 'OWN', 'Sec-Fetch-Site': 'cross-site' }, false],
    ['has its own origin', { Origin: 'OWN' }, true],
    ['has the origin of another port', { Origin: 'http://127.0.0.1:1' }, false],
  ]
  const filled = (headers: Record<string, string>) =>
    headers.Origin === 'OWN' ? { ...headers, Origin: harness.baseUrl } : headers

  it.each(origins)('%s', async (_case, given, isAccepted) => {
    const headers = filled(given)
    const cookie = await signIn(harness.tokens.owner)
    const path = `origin-${Math.random().toString(36).slice(2)}`
    const made = await api('/projects', {
      method: 'POST',
      headers: { ...headers, Cookie: cookie, 'Content-Type': 'application/json' },
      body: JSON.stringify({ path }),
    })
    const found = await harness.send('owner', 'GET', `/projects/Owner%2F${path}`)
    expect([made.status, found.status]).toEqual(isAccepted ? [201, 200] : [403, 404])
    if (!isAccepted) expect(await outcome(made)).toEqual(foreign)

    const before = (await storedSessions()).length
    const begun = await post(harness.tokens.user, headers)
    expect(begun.status).toBe(isAccepted ? 201 : 403)
    expect((await storedSessions()).length - before).toBe(isAccepted ? 1 : 0)
    const ended = await send('DELETE', '/session', { ...headers, Cookie: cookie })
    expect(ended.status).toBe(isAccepted ? 204 : 403)
    expect(await userOf(cookie)).toBe(isAccepted ? 401 : 200)
  })

  it('may come from the configured origin, and from the requested host behind a gateway', async () => {
    const base = await harness.start({ EXTERNAL_URL: 'https://switchyard.example.com' })
    const behind = { 'X-Forwarded-Host': 'inside.example:8443', 'X-Forwarded-Proto': 'https' }
    const accepted = [
      { Origin: 'https://switchyard.example.com' },
      { Origin: 'https://inside.example:8443', ...behind },
    ]
    const refused = [
      { Origin: 'https://inside.example:8444', ...behind },
      { Origin: 'http://switchyard.example.com' },
    ]
    for (const headers of accepted) expect((await post(harness.tokens.user, headers, base)).status).toBe(201)
    for (const headers of refused) expect((await post(harness.tokens.user, headers, base)).status).toBe(403)
  })

  it('is not opened to other origins by CORS', async () => {
    const origin = 'https://console.example.com'
    const base = await harness.start({ CORS_ALLOWED_ORIGINS: origin })
    const cookie = await signIn(harness.tokens.user, base)
    const read = await send('GET', '/user', { Cookie: cookie, Origin: origin }, base)
    expect(read.headers.get('Access-Control-Allow-Origin')).toBe(origin)
    expect(read.headers.get('Access-Control-Allow-Credentials')).toBe(null)
    expect(read.headers.get('Vary')).toContain('Cookie')
    const preflight = await api(
      '/projects',
      { method: 'OPTIONS', headers: { Origin: origin, 'Access-Control-Request-Method': 'POST' } },
      base,
    )
    expect(preflight.headers.get('Access-Control-Allow-Credentials')).toBe(null)
    expect((await send('POST', '/projects', { Cookie: cookie, Origin: origin }, base)).status).toBe(403)
  })
})
