import { createToken } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { json, outcome } from '../harness.js'
import { openWindow, type Window } from './identity-window.js'
import { type SignIn, startSignIn } from './sign-in-harness.js'

let signIn: SignIn
beforeAll(async () => {
  signIn = await startSignIn()
})
afterAll(() => signIn?.close())

const beginSession = async (token: string) => {
  const window = openWindow()
  const body = JSON.stringify({ token })
  expect((await signIn.api(window, '/session', { method: 'POST', body })).status).toBe(201)
  return window
}

const beginLink = (window: Window, provider = 'closed') => {
  const body = JSON.stringify({ provider, next: '/console/account' })
  return signIn.api(window, '/user/identities', { method: 'POST', body })
}

/** Visits the provider to link an account. @returns the final page of the console */
async function link(window: Window, login: string) {
  const { status, body } = await beginLink(window)
  expect(status).toBe(201)
  const { at } = await window.logIn(body.authorization_url, login)
  return at.slice(signIn.base.length)
}

const account = (login: string) => {
  signIn.accounts[login] = { preferred_username: login, email: 'ordinary@example.com', email_verified: true }
}

describe('linking an account at a provider', () => {
  it('needs its signed-in owner, who can sign in with it afterwards', async () => {
    account('linked')
    const { harness } = signIn
    const window = await beginSession(harness.tokens.user)
    expect(await link(window, 'linked')).toBe('/console/account')
    expect(await link(window, 'linked')).toBe('/console/account')
    const { body } = await signIn.api(window, '/user/identities')
    expect(body).toEqual([
      expect.objectContaining({
        provider: 'closed',
        issuer: `${signIn.provider.issuer}/`,
        extern_uid: 'linked',
        last_signed_in_at: null,
      }),
    ])
    const signed = await signIn.signIn('linked', { name: 'closed' })
    expect((await signIn.api(signed.window, '/session')).body.user.id).toBe(harness.users.user.id)
    const events = (await signIn.eventsOf(harness.users.user.id)).map(({ eventName }) => eventName)
    expect(events.filter((name) => name === 'identity_linked')).toHaveLength(1)
  })

  it('is refused when the account is linked to another user', async () => {
    account('linked')
    const window = await beginSession(signIn.harness.tokens.owner)
    const problem = new URLSearchParams({ problem: 'identity_taken', by: 'Single sign-on' })
    expect(await link(window, 'linked')).toBe(`/console/sign-in?${problem}`)
  })

  it('is refused without a session, and for a session with fewer rights than the user', async () => {
    const { harness } = signIn
    const given = json({ provider: 'closed' })
    expect((await harness.send('user', 'POST', '/user/identities', given)).status).toBe(403)
    expect((await harness.send('guest', 'POST', '/user/identities', given)).status).toBe(401)
    const bound = await createToken(harness.database, harness.users.user, { tenants: ['acme'] })
    expect((await beginLink(await beginSession(bound.secret))).status).toBe(403)
    const reading = await beginSession(await harness.secretOf(harness.users.user, ['read_api']))
    expect((await beginLink(reading)).status).toBe(403)
    const window = await beginSession(harness.tokens.user)
    expect((await beginLink(window, 'other')).status).toBe(404)
    expect((await signIn.api(window, '/user/identities', { method: 'POST', body: '{}' })).status).toBe(400)
  })

  it('is refused after the session was signed out', async () => {
    account('late')
    const window = await beginSession(signIn.harness.tokens.owner)
    const { body } = await beginLink(window)
    expect((await signIn.api(window, '/session', { method: 'DELETE' })).status).toBe(204)
    const { at } = await window.logIn(body.authorization_url, 'late')
    expect(at).toContain('/console/sign-in?problem=other_browser')
  })
})

describe('unlinking an account', () => {
  const comes = (login: string) => {
    signIn.accounts[login] = { preferred_username: login }
  }
  const unlink = (window: Window, id: number) =>
    signIn.api(window, `/user/identities/${id}`, { method: 'DELETE' })
  const listed = async (window: Window): Promise<{ id: number }[]> =>
    (await signIn.api(window, '/user/identities')).body

  it('is refused to its owner when no other way to sign in is left, but not to administrators', async () => {
    comes('only')
    const { window } = await signIn.signIn('only')
    const [identity] = await listed(window)
    const id = identity?.id ?? 0
    const refused = await unlink(window, id)
    expect(refused).toMatchObject({ status: 409, body: { message: expect.stringContaining('only way') } })
    expect((await signIn.api(window, '/session')).body.user.username).toBe('only')
    const { id: userId } = (await signIn.userNamed('only')) ?? { id: 0 }
    const byAdministrator = `/users/${userId}/identities/${id}`
    expect((await signIn.harness.send('admin', 'DELETE', byAdministrator)).status).toBe(204)
  })

  it('keeps one of two accounts, even when both are unlinked at once', async () => {
    comes('twice-a')
    comes('twice-b')
    const { window } = await signIn.signIn('twice-a')
    const { id: userId } = (await signIn.userNamed('twice-a')) ?? { id: 0 }
    const given = json({ provider: 'closed', extern_uid: 'twice-b' })
    const linked = await signIn.harness.send('admin', 'POST', `/users/${userId}/identities`, given)
    expect(linked.status).toBe(201)
    const second = await signIn.signIn('twice-b', { name: 'closed' })
    const [a, b] = await listed(window)
    const answers = await Promise.all([unlink(window, b?.id ?? 0), unlink(second.window, a?.id ?? 0)])
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
    expect(await signIn.harness.database.prisma.identity.count({ where: { userId } })).toBe(1)
  })

  it('twice at once unlinks the account once', async () => {
    comes('double')
    const { window } = await signIn.signIn('double')
    const [identity] = await listed(window)
    const { id: userId } = (await signIn.userNamed('double')) ?? { id: 0 }
    const path = `/users/${userId}/identities/${identity?.id}`
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => signIn.harness.send('admin', 'DELETE', path)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404])
  })

  it('is possible for users who can sign in with a token', async () => {
    comes('with-token')
    const { window } = await signIn.signIn('with-token')
    const [identity] = await listed(window)
    const user = await signIn.userNamed('with-token')
    if (!user) throw new Error('there is no user')
    const past = new Date('2020-01-01')
    await createToken(signIn.harness.database, user, { expiresAt: past })
    expect((await unlink(window, identity?.id ?? 0)).status).toBe(409)
    await createToken(signIn.harness.database, user, {})
    expect((await unlink(window, identity?.id ?? 0)).status).toBe(204)
    expect((await signIn.api(window, '/session')).body.user).toBeNull()
  })
})

describe('administrators', () => {
  const send = (who: string, method: string, path: string, body?: object) =>
    signIn.harness.send(who, method, path, body && json(body))

  it('link and unlink accounts of users, which ends the sessions and the roles of the groups', async () => {
    const { harness } = signIn
    const { id } = harness.users.owner
    const path = `/users/${id}/identities`
    const given = { provider: 'groups', extern_uid: 'by-admin' }
    const made = await outcome(send('admin', 'POST', path, given))
    expect(made).toMatchObject({ status: 201, body: { provider: 'groups', extern_uid: 'by-admin' } })
    expect((await send('admin', 'POST', path, given)).status).toBe(409)
    signIn.accounts['by-admin'] = { preferred_username: 'ignored', groups: ['ops'] }
    const { window } = await signIn.signIn('by-admin', { name: 'groups' })
    expect((await signIn.api(window, '/session')).body.user).toMatchObject({ id, is_admin: true })
    const listed = await outcome(send('admin', 'GET', path))
    expect(listed.body).toMatchObject([{ extern_uid: 'by-admin', last_signed_in_at: expect.any(String) }])
    const asGitLab = { identities: [given] }
    expect((await outcome(send('admin', 'GET', `/users/${id}`))).body).toMatchObject(asGitLab)
    const users = await outcome(send('admin', 'GET', '/users?username=owner'))
    expect(users.body).toMatchObject([{ id, ...asGitLab }])
    expect((await outcome(send('user', 'GET', `/users/${id}`))).body).not.toHaveProperty('identities')
    const identity = (made.body as { id: number }).id
    expect((await send('admin', 'DELETE', `${path}/${identity}`)).status).toBe(204)
    expect((await signIn.api(window, '/session')).body.user).toBeNull()
    expect((await harness.database.prisma.user.findUnique({ where: { id } }))?.admin).toBe(false)
    expect((await send('admin', 'DELETE', `${path}/${identity}`)).status).toBe(404)
    const events = (await signIn.eventsOf(harness.users.admin.id)).map(({ eventName }) => eventName)
    expect(events).toEqual(expect.arrayContaining(['identity_linked', 'identity_unlinked']))
  })

  it('are the only ones who see and change the accounts of others', async () => {
    const { id } = signIn.harness.users.owner
    for (const [method, path, body] of [
      ['GET', `/users/${id}/identities`],
      ['POST', `/users/${id}/identities`, { provider: 'open', extern_uid: 'x' }],
      ['DELETE', `/users/${id}/identities/1`],
    ] as const) {
      expect((await send('user', method, path, body)).status).toBe(403)
      expect((await send('guest', method, path, body)).status).toBe(401)
    }
    expect((await send('admin', 'GET', '/users/999999/identities')).status).toBe(404)
    expect((await send('admin', 'POST', `/users/${id}/identities`, { provider: 'open' })).status).toBe(400)
    expect((await send('user', 'DELETE', '/user/identities/999999')).status).toBe(404)
  })
})

describe('the token behind a sign-in', () => {
  it('is in no list, has no secret that works, and ends its sessions when it is revoked', async () => {
    signIn.accounts.behind = { preferred_username: 'behind' }
    const { window } = await signIn.signIn('behind')
    expect((await signIn.api(window, '/personal_access_tokens')).body).toEqual([])
    const own = (await signIn.api(window, '/personal_access_tokens/self')).body
    expect(own).toMatchObject({ name: 'Company', scopes: ['api'], expires_at: null })
    for (const id of ['self', own.id]) {
      const rotated = await signIn.api(window, `/personal_access_tokens/${id}/rotate`, {
        method: 'POST',
        body: '{}',
      })
      expect(rotated).toMatchObject({ status: 403 })
    }
    const revoked = await signIn.api(window, '/personal_access_tokens/self', { method: 'DELETE' })
    expect(revoked.status).toBe(204)
    expect((await signIn.api(window, '/session')).body.user).toBeNull()
    const again = await signIn.signIn('behind')
    expect((await signIn.api(again.window, '/session')).body.user.username).toBe('behind')
  })
})
