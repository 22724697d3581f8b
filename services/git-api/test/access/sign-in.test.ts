import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWindow } from './identity-window.js'
import { type SignIn, startSignIn } from './sign-in-harness.js'

let signIn: SignIn
beforeAll(async () => {
  signIn = await startSignIn()
})
afterAll(() => signIn?.close())

const problem = (reason: string, by = 'Single sign-on') =>
  `/console/sign-in?${new URLSearchParams({ problem: reason, by })}`

const person = (username: string) => ({
  preferred_username: username,
  name: `The ${username}`,
  email: `${username}@example.com`,
  email_verified: true,
})

describe('signing in by a provider', () => {
  it('is offered to everybody', async () => {
    const { status, body } = await signIn.api(openWindow(), '/sign_in')
    expect(status).toBe(200)
    expect(body.token_sign_in).toBe('everybody')
    expect(body.providers).toContainEqual({ name: 'open', label: 'Company' })
  })

  it('leads to the provider with PKCE, state and nonce, which are in a cookie that scripts cannot read', async () => {
    const window = openWindow()
    const response = await window.ask(signIn.addressOf('open'))
    expect(response.status).toBe(302)
    const url = new URL(response.headers.get('Location') ?? '')
    expect(url.origin).toBe(signIn.provider.issuer)
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      redirect_uri: `${signIn.addressOf('open')}/callback`,
      scope: 'openid profile email',
    })
    const [cookie = ''] = response.headers.getSetCookie()
    expect(cookie).toMatch(
      /^switchyard_sign_in=\S+; Max-Age=900; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/,
    )
    expect(cookie).not.toContain(url.searchParams.get('state'))
    expect(response.headers.get('Cache-Control')).toBe('no-store')
  })

  it('creates the account and the session, and finds the account again by its subject', async () => {
    signIn.accounts.ada = person('Ada.Lovelace')
    const { window, page } = await signIn.signIn('ada', { next: '/console/projects?q=x' })
    expect(page).toBe('/console/projects?q=x')
    const { body } = await signIn.api(window, '/session')
    expect(body).toMatchObject({
      user: { username: 'Ada.Lovelace', name: 'The Ada.Lovelace', is_admin: false },
      scopes: ['api'],
      provider: 'open',
    })
    const { body: whole } = await signIn.api(window, '/user')
    expect(whole).toMatchObject({ email: 'Ada.Lovelace@example.com' })

    signIn.accounts.ada = person('renamed')
    const again = await signIn.signIn('ada')
    expect((await signIn.api(again.window, '/session')).body.user).toEqual(body.user)
    expect(await signIn.userNamed('renamed')).toBeNull()
    const events = await signIn.eventsOf(body.user.id)
    expect(events.map(({ eventName, details }) => [eventName, details])).toEqual([
      ['user_created', { username: 'Ada.Lovelace', admin: false }],
      ['identity_linked', { provider: 'open', subject: 'ada' }],
      ['user_signed_in', { session_id: expect.any(Number), provider: 'open' }],
      ['user_signed_in', { session_id: expect.any(Number), provider: 'open' }],
    ])
  })

  it.each([
    'https://evil.example/console/',
    '//evil.example/console/',
    '/projects',
    'javascript:alert(1)',
    `/console/?${'x'.repeat(2000)}`,
  ])('follows only addresses of the console: %s', async (next) => {
    signIn.accounts.next = person('next-user')
    expect((await signIn.signIn('next', { next })).page).toBe('/console/')
  })

  it('creates no account unless the settings say so', async () => {
    signIn.accounts.nobody = person('nobody-knows')
    const { page, window } = await signIn.signIn('nobody', { name: 'closed' })
    expect(page).toBe(problem('no_account'))
    expect((await signIn.api(window, '/session')).body.user).toBeNull()
    expect(await signIn.userNamed('nobody-knows')).toBeNull()
  })

  it('refuses a username and an e-mail address of another user, and binds the account to neither', async () => {
    signIn.accounts.taken = { ...person('ORDINARY'), email: 'other@example.com' }
    expect((await signIn.signIn('taken')).page).toBe(problem('username_taken', 'Company'))
    signIn.accounts.taken = { ...person('somebody'), email: 'ordinary@example.com' }
    expect((await signIn.signIn('taken')).page).toBe(problem('email_taken', 'Company'))
    signIn.accounts.taken = person('admin')
    expect((await signIn.signIn('taken')).page).toBe(problem('username_taken', 'Company'))
    expect(await signIn.harness.database.prisma.identity.count({ where: { subject: 'taken' } })).toBe(0)
  })

  it('uses an e-mail address only when the provider has verified it', async () => {
    signIn.accounts.unverified = {
      ...person('unverified'),
      email: 'owner@example.com',
      email_verified: false,
    }
    const { window } = await signIn.signIn('unverified')
    const { body } = await signIn.api(window, '/user')
    expect(body).toMatchObject({ username: 'unverified', email: 'unverified@noreply.switchyard.invalid' })
  })

  it('admits only the domains and groups of the settings', async () => {
    const groups = ['guests', 'staff']
    signIn.accounts.limited = { ...person('limited'), groups }
    signIn.accounts.foreign = { ...person('foreign'), email: 'a@example.com.evil.example', groups }
    signIn.accounts.unproven = { ...person('unproven'), email_verified: false, groups }
    signIn.accounts.guest = { ...person('guest-only'), groups: ['guests'] }
    expect((await signIn.signIn('limited', { name: 'limited' })).page).toBe('/console/')
    for (const login of ['foreign', 'unproven', 'guest'])
      expect((await signIn.signIn(login, { name: 'limited' })).page).toBe(problem('not_allowed'))
  })

  it('does not admit blocked users, and blocking ends their sessions', async () => {
    signIn.accounts.blocked = person('soon-blocked')
    const { window } = await signIn.signIn('blocked')
    const { id } = (await signIn.api(window, '/user')).body
    expect((await signIn.harness.send('admin', 'POST', `/users/${id}/block`)).status).toBe(201)
    expect((await signIn.api(window, '/user')).status).toBe(401)
    expect((await signIn.signIn('blocked')).page).toBe(problem('blocked', 'Company'))
  })

  it('begins a session that ends with the ID token where the settings say so', async () => {
    signIn.accounts.short = person('short-time')
    const { window } = await signIn.signIn('short', { name: 'short' })
    const { expires_at } = (await signIn.api(window, '/session')).body
    const seconds = (Date.parse(expires_at) - Date.now()) / 1000
    expect(seconds).toBeGreaterThan(3500)
    expect(seconds).toBeLessThanOrEqual(3600)
  })

  it('answers 404 for an unknown provider', async () => {
    expect((await signIn.api(openWindow(), '/sign_in/other')).status).toBe(404)
    expect((await signIn.api(openWindow(), '/sign_in/other/callback?code=x')).status).toBe(404)
  })
})

describe('malicious claims', () => {
  it('become plain text of bounded length', async () => {
    signIn.accounts.hostile = {
      preferred_username: '<img src=x onerror=alert(1)>',
      name: `<img src=x>\u202Egpj.exe\u0000 ${'🙂'.repeat(400)}`,
      groups: Array.from({ length: 10_000 }, (_, index) => `group-${index}`),
      email: '"<script>"@example.com',
      email_verified: true,
    }
    const { page } = await signIn.signIn('hostile')
    // An address with angle brackets counts as missing.
    expect(page).toBe(problem('not_verified', 'Company'))
    signIn.accounts.hostile.email = undefined
    const { window } = await signIn.signIn('hostile')
    const { user } = (await signIn.api(window, '/session')).body
    expect(user.username).toBe('img-src-x-onerror-alert-1')
    expect(user.name).toMatch(/^<img src=x> gpj\.exe {1,2}(🙂)+$/u)
    expect(user.name.length).toBeLessThanOrEqual(255)
  })

  it('are refused when they are too long', async () => {
    signIn.accounts.huge = { ...person('huge'), groups: ['x'.repeat(3_000_000)] }
    expect((await signIn.signIn('huge')).page).toBe(problem('not_verified', 'Company'))
  })

  it('are refused without a username', async () => {
    signIn.accounts.empty = { ...person('x'), preferred_username: '\u202E\u0000<>' }
    expect((await signIn.signIn('empty')).page).toBe(problem('username_taken', 'Company'))
  })
})
