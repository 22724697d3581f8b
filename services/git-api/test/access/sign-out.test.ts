import { generateKeyPairSync } from 'node:crypto'
import { UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { outcome } from '../harness.js'
import { logoutEvents, signLogout } from './logout-token.js'
import { type SignIn, startSignIn } from './sign-in-harness.js'

let signIn: SignIn
beforeAll(async () => {
  signIn = await startSignIn()
})
afterAll(() => signIn?.close())

async function signedIn(login: string) {
  signIn.accounts[login] = { preferred_username: login }
  const { window } = await signIn.signIn(login)
  const isIn = async () => (await signIn.api(window, '/session')).body.user !== null
  expect(await isIn()).toBe(true)
  return { window, isIn }
}

const sidOf = async (login: string) => {
  const session = await signIn.harness.database.prisma.session.findFirst({
    where: { token: { identity: { subject: login } } },
    orderBy: { id: 'desc' },
  })
  return session?.providerSessionId ?? ''
}

const post = (logout_token: string) =>
  fetch(`${signIn.addressOf('open')}/backchannel_logout`, {
    method: 'POST',
    body: new URLSearchParams({ logout_token }),
  })

describe('signing out', () => {
  it('leads to the page of the provider, which comes back to the sign-in page', async () => {
    const { window, isIn } = await signedIn('leaver')
    expect((await signIn.api(window, '/session', { method: 'DELETE' })).status).toBe(204)
    expect(await isIn()).toBe(false)
    const response = await window.ask(`${signIn.addressOf('open')}/sign_out`)
    const url = new URL(response.headers.get('Location') ?? '')
    expect(url.origin).toBe(signIn.provider.issuer)
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: 'switchyard',
      post_logout_redirect_uri: `${signIn.base}/console/sign-in`,
    })
    const form = await (await window.ask(url.href)).text()
    const xsrf = /name="xsrf" value="(\w+)"/.exec(form)?.[1] ?? ''
    const confirm = { method: 'POST', body: new URLSearchParams({ xsrf, logout: 'yes' }) }
    const { at } = await window.go(`${url.origin}/session/end/confirm`, confirm, (next) =>
      next.pathname.startsWith('/console'),
    )
    expect(at).toBe(`${signIn.base}/console/sign-in`)
  })

  it('at the provider ends the session here through a logout token', async () => {
    const { window, isIn } = await signedIn('elsewhere')
    const url = `${signIn.provider.issuer}/session/end`
    const form = await (await window.ask(url)).text()
    const xsrf = /name="xsrf" value="(\w+)"/.exec(form)?.[1] ?? ''
    const body = new URLSearchParams({ xsrf, logout: 'yes' })
    await window.ask(`${url}/confirm`, { method: 'POST', body })
    await expect.poll(isIn).toBe(false)
    const user = await signIn.userNamed('elsewhere')
    expect((await signIn.eventsOf(user?.id ?? 0)).at(-1)).toMatchObject({
      eventName: 'user_signed_out',
      details: { session_id: expect.any(Number), by: 'provider' },
    })
  })
})

describe('a logout token', () => {
  it('ends every session of a subject, or the named session, and no other', async () => {
    const first = await signedIn('many')
    const firstSid = await sidOf('many')
    const second = await signedIn('many')
    const stranger = await signedIn('stranger')
    expect((await post(await signLogout(signIn.provider, { sid: firstSid }))).status).toBe(200)
    expect(await Promise.all([first.isIn(), second.isIn(), stranger.isIn()])).toEqual([false, true, true])
    const response = await post(await signLogout(signIn.provider, { sub: 'many' }))
    expect(response.status).toBe(200)
    expect(response.headers.get('Cache-Control')).toBe('no-store')
    expect(await Promise.all([second.isIn(), stranger.isIn()])).toEqual([false, true])
  })

  it('that is replayed ends no session that began later', async () => {
    const old = await signLogout(signIn.provider, { sub: 'later', iat: Math.floor(Date.now() / 1000) - 300 })
    const { isIn } = await signedIn('later')
    expect((await post(old)).status).toBeOneOf([200, 400])
    expect(await isIn()).toBe(true)
  })

  it('is refused unless it comes from the provider, is meant for this client, and is a logout token', async () => {
    const { isIn } = await signedIn('steady')
    const { provider } = signIn
    const seconds = Math.floor(Date.now() / 1000)
    const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    const [own] = provider.keys
    const forged = { ...provider, keys: [{ kid: own?.kid ?? '', key }] }
    const unsigned = new UnsecuredJWT({ sub: 'steady', jti: 'x', events: logoutEvents })
      .setIssuer(provider.issuer)
      .setAudience('switchyard')
      .setIssuedAt()
      .encode()
    const bad = [
      await signLogout(forged, { sub: 'steady' }),
      await signLogout(provider, { sub: 'steady', aud: 'another' }),
      await signLogout(provider, { sub: 'steady', iss: 'https://evil.example' }),
      await signLogout(provider, { sub: 'steady', events: {} }),
      await signLogout(provider, { sub: 'steady', events: undefined }),
      await signLogout(provider, { sub: 'steady', nonce: 'of an ID token' }),
      await signLogout(provider, { sub: 'steady', iat: seconds - 3600, exp: seconds - 3000 }),
      await signLogout(provider, {}),
      unsigned,
      'no.token.at.all',
      'x'.repeat(10_000),
    ]
    for (const token of bad)
      expect(await outcome(post(token))).toEqual({ status: 400, body: { error: 'logout_token is invalid' } })
    expect((await post('x'.repeat(20_000))).status).toBe(400)
    expect(await isIn()).toBe(true)
  })
})
