import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWindow, type Window } from './identity-window.js'
import { type SignIn, startSignIn } from './sign-in-harness.js'

let signIn: SignIn
beforeAll(async () => {
  signIn = await startSignIn()
})
afterAll(() => signIn?.close())

const problem = (reason: string) =>
  `/console/sign-in?${new URLSearchParams({ problem: reason, by: 'Company' })}`

const account = (login: string) => {
  signIn.accounts[login] = { preferred_username: login, name: login }
}

/**
 * Completes the login at the provider, and stops before the browser comes back.
 *
 * @returns the address of the callback
 */
async function atCallback(login: string, window: Window, url = signIn.addressOf('open')): Promise<string> {
  account(login)
  const { at } = await window.logIn(url, login, ({ pathname }) => pathname.endsWith('/callback'))
  return at
}

/** Returns where a callback leads a window, and whether it is signed in afterwards. */
async function comeBack(window: Window, callback: string) {
  const response = await window.ask(callback)
  const { user } = (await signIn.api(window, '/session')).body
  return { page: response.headers.get('Location'), user: user?.username ?? null }
}

const refusedAs = (reason: string) => ({ page: problem(reason), user: null })

describe('a callback', () => {
  it('signs in once, and its replay does not', async () => {
    const window = openWindow()
    const callback = await atCallback('replay', window)
    const cookies = new Map(window.cookies(callback))
    expect(await comeBack(window, callback)).toEqual({ page: '/console/', user: 'replay' })
    const other = openWindow()
    expect(await comeBack(other, callback)).toEqual(refusedAs('other_browser'))
    // The cookie of the first window does not help, because the provider accepts a code once.
    for (const [name, value] of cookies) other.cookies(callback).set(name, value)
    expect(await comeBack(other, callback)).toEqual(refusedAs('not_verified'))
  })

  it('with the state of another browser does not sign in', async () => {
    const attacker = openWindow()
    const callback = await atCallback('attacker', attacker)
    const victim = openWindow()
    expect(await comeBack(victim, callback)).toEqual(refusedAs('other_browser'))
    await victim.ask(signIn.addressOf('open'))
    expect(await comeBack(victim, callback)).toEqual(refusedAs('not_verified'))
  })

  it('with an ID token that has the nonce of another sign-in does not sign in', async () => {
    const window = openWindow()
    const begun = await window.ask(signIn.addressOf('open'))
    const url = new URL(begun.headers.get('Location') ?? '')
    url.searchParams.set('nonce', 'another-nonce')
    const callback = await atCallback('nonce', window, url.href)
    expect(await comeBack(window, callback)).toEqual(refusedAs('not_verified'))
  })

  it('with a code that was requested without the PKCE secret does not sign in', async () => {
    const window = openWindow()
    const begun = await window.ask(signIn.addressOf('open'))
    const url = new URL(begun.headers.get('Location') ?? '')
    url.searchParams.set('code_challenge', 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM')
    const callback = await atCallback('pkce', window, url.href)
    expect(await comeBack(window, callback)).toEqual(refusedAs('not_verified'))
  })

  it('with a cookie of another provider, or a modified one, does not sign in', async () => {
    const window = openWindow()
    const callback = await atCallback('changed', window)
    const jar = window.cookies(callback)
    const cookie = jar.get('switchyard_sign_in') ?? ''
    const elsewhere = callback.replace('/sign_in/open/', '/sign_in/closed/')
    const { page } = await comeBack(window, elsewhere)
    expect(page).toContain('problem=other_browser')
    jar.set('switchyard_sign_in', `${cookie.slice(0, -2)}AA`)
    expect(await comeBack(window, callback)).toEqual(refusedAs('other_browser'))
  })

  it('that reports a refusal by the person shows it', async () => {
    const window = openWindow()
    const begun = await window.ask(signIn.addressOf('open'))
    const state = new URL(begun.headers.get('Location') ?? '').searchParams.get('state') ?? ''
    const answer = new URLSearchParams({ error: 'access_denied', state, iss: signIn.provider.issuer })
    const callback = `${signIn.addressOf('open')}/callback?${answer}`
    expect(await comeBack(window, callback)).toEqual(refusedAs('denied'))
  })
})

describe('a provider', () => {
  it('that has new keys signs in at once', async () => {
    account('before-rotation')
    await signIn.signIn('before-rotation')
    signIn.provider.rotateKeys()
    const { page } = await signIn.signIn('before-rotation')
    expect(page).toBe('/console/')
  })

  it('that is down is named on the sign-in page, and tokens still sign in', async () => {
    account('away')
    const window = openWindow()
    const callback = await atCallback('away', window)
    await signIn.provider.stop()
    try {
      expect(await comeBack(window, callback)).toEqual(refusedAs('unavailable'))
      const fresh = await signIn.harness.start({ PORT: '0' })
      const begun = await fetch(`${fresh}/api/v4/sign_in/open`, { redirect: 'manual' })
      expect(begun.headers.get('Location')).toBe(problem('unavailable'))
      const body = JSON.stringify({ token: signIn.harness.tokens.user })
      const session = await signIn.api(window, '/session', { method: 'POST', body })
      expect(session.status).toBe(201)
      const link = { method: 'POST', body: JSON.stringify({ provider: 'open' }) }
      expect((await signIn.api(window, '/user/identities', link)).status).toBeOneOf([201, 503])
    } finally {
      await signIn.provider.start()
    }
    expect((await signIn.signIn('away')).page).toBe('/console/')
  })
})

describe('signing in with a token', () => {
  it('is reserved for administrators where the settings say so; calls with a token continue', async () => {
    const base = await signIn.harness.start({ PORT: '0', TOKEN_SIGN_IN: 'administrators' })
    const { tokens } = signIn.harness
    const post = (token: string) =>
      fetch(`${base}/api/v4/session`, {
        method: 'POST',
        headers: { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/json' },
        body: JSON.stringify({ token }),
      })
    const refusal = await post(tokens.user)
    expect(refusal.status).toBe(403)
    expect(refusal.headers.getSetCookie()).toEqual([])
    expect(await refusal.text()).toContain('Only administrators sign in with a token')
    expect((await post(tokens.admin)).status).toBe(201)
    const direct = await fetch(`${base}/api/v4/user`, { headers: { 'PRIVATE-TOKEN': tokens.user } })
    expect(direct.status).toBe(200)
    expect(await (await fetch(`${base}/api/v4/sign_in`)).json()).toMatchObject({
      token_sign_in: 'administrators',
    })
  })
})
