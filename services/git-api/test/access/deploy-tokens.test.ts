import { createHash, randomBytes } from 'node:crypto'
import type { createGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Awaited<ReturnType<typeof pushSample>>['project']
let work: Awaited<ReturnType<typeof createGitRepository>>

beforeAll(async () => {
  harness = await startGitHarness()
  const sample = await pushSample(harness)
  project = sample.project
  work = sample.work
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

const rootToken = 'root-token-of-the-tests-0123456789'
const tokens = (suffix = '') => `/projects/${project.id}/deploy_tokens${suffix}`
const given = { name: 'production', scopes: ['read_repository'] }

async function issue(fields = {}) {
  const { status, body } = await harness.ask('owner', 'POST', tokens(), { ...given, ...fields })
  expect(status, JSON.stringify(body)).toBe(201)
  return body as { id: number; token: string; username: string; expires_at: string | null }
}

/** Returns the address of the repository with a deploy token in it. */
function remote({ token, username }: { token: string; username: string }, of = project) {
  const url = new URL(harness.remote('anonymous', of))
  return Object.assign(url, { username: encodeURIComponent(username), password: token }).href
}

/** Lists the references of the repository with git; returns the reason of a refusal. */
const fetched = (address: string) =>
  work.git('ls-remote', address).then(
    (listed) => (listed.includes('refs/heads/main') ? 'fetched' : 'empty'),
    (error: Error) => error.message,
  )

describe('a deploy token', () => {
  it('is shown once, and listed without its secret', async () => {
    const issued = await issue({ expires_at: '2999-12-31' })
    const { token, ...shown } = issued
    expect(token).toMatch(/^gldt-[\w-]{27}$/)
    expect(shown).toEqual({
      id: issued.id,
      name: 'production',
      username: `gitlab+deploy-token-${issued.id}`,
      expires_at: '2999-12-31T00:00:00.000Z',
      scopes: ['read_repository'],
      revoked: false,
      expired: false,
    })
    const listed = await harness.ask('owner', 'GET', tokens())
    expect(listed.headers.get('X-Total')).toBe(String(listed.body.length))
    expect(listed.body).toContainEqual(shown)
    expect((await harness.ask('owner', 'GET', tokens(`/${issued.id}`))).body).toEqual(shown)
    expect((await harness.ask('owner', 'GET', tokens('/999999'))).status).toBe(404)
    expect(JSON.stringify(listed.body)).not.toContain(token)
  })

  it('fetches from its project and can do nothing else', async () => {
    const issued = await issue({ username: 'deployer' })
    expect(issued.username).toBe('deployer')
    expect(await fetched(remote(issued))).toBe('fetched')
    const other = await harness.project()
    expect(await fetched(remote(issued, other))).toContain('not found')
    const pushed = work.git('push', remote(issued), 'HEAD:refs/heads/new')
    await expect(pushed).rejects.toThrow('403')
    const withToken = (path: string, method = 'GET') =>
      fetch(`${harness.baseUrl}/api/v4${path}`, { method, headers: { 'PRIVATE-TOKEN': issued.token } })
    for (const path of [
      '/user',
      '/projects',
      `/projects/${project.id}`,
      tokens(),
      '/personal_access_tokens',
    ]) {
      expect([path, (await withToken(path)).status]).toEqual([path, 403])
    }
    expect((await withToken(`/projects/${project.id}/repository/commits`)).status).toBe(403)
    expect((await withToken('/personal_access_tokens/self')).status).toBe(401)
    expect((await withToken('/personal_access_tokens/self', 'DELETE')).status).toBe(404)
    expect((await withToken('/personal_access_tokens/self/rotate', 'POST')).status).toBe(403)
    expect(await fetched(remote(issued))).toBe('fetched')
  })

  it('downloads objects of Git LFS, but can neither upload nor lock them', async () => {
    const { username, token } = await issue()
    const bytes = new Uint8Array(randomBytes(100))
    const oid = createHash('sha256').update(bytes).digest('hex')
    const url = `${harness.baseUrl}/${project.pathWithNamespace}.git`
    const send = (method: string, path: string, sender: string, body?: string | Uint8Array<ArrayBuffer>) =>
      fetch(url + path, { method, headers: { Authorization: `Basic ${btoa(sender)}` }, body: body ?? null })
    const own = `${username}:${token}`
    const object = `/gitlab-lfs/objects/${oid}`
    expect((await send('PUT', `${object}/100`, `any:${harness.tokens.developer}`, bytes)).status).toBe(200)
    const down = await send('GET', object, own)
    expect(Buffer.from(await down.arrayBuffer()).equals(bytes)).toBe(true)
    expect((await send('PUT', `${object}/100`, own, bytes)).status).toBe(403)
    expect((await send('GET', '/info/lfs/locks', own)).status).toBe(200)
    expect((await send('POST', '/info/lfs/locks', own, '{"path":"a"}')).status).toBe(403)
    expect((await send('POST', '/info/lfs/locks/verify', own, '{}')).status).toBe(403)
  })

  it('stops at its expiry, when it is revoked, and while the user who created it is blocked', async () => {
    const expiring = await issue({ expires_at: new Date(Date.now() + 60_000).toISOString() })
    const where = { tokenHash: new Uint8Array(createHash('sha256').update(expiring.token).digest()) }
    await harness.database.prisma.deployToken.update({ where, data: { expiresAt: new Date() } })
    expect(await fetched(remote(expiring))).toContain('Authentication failed')
    const shown = await harness.ask('owner', 'GET', tokens('?active=false'))
    expect(shown.body).toEqual([expect.objectContaining({ id: expiring.id, expired: true })])
    const active = await harness.ask('owner', 'GET', tokens('?active=true'))
    expect(active.body.map(({ id }: { id: number }) => id)).not.toContain(expiring.id)

    const issued = await issue()
    expect(await fetched(remote(issued))).toBe('fetched')
    const administrator = (path: string) =>
      fetch(`${harness.baseUrl}/api/v4/users/${project.ownerId}/${path}`, {
        method: 'POST',
        headers: { 'PRIVATE-TOKEN': rootToken },
      })
    expect((await administrator('block')).status).toBe(201)
    expect(await fetched(remote(issued))).toContain('Authentication failed')
    expect((await administrator('unblock')).status).toBe(201)
    // The answer that the token does not work is cached for half a second.
    await expect.poll(() => fetched(remote(issued))).toBe('fetched')

    expect((await harness.ask('owner', 'DELETE', tokens(`/${issued.id}`))).status).toBe(204)
    expect(await fetched(remote(issued))).toContain('Authentication failed')
    expect((await harness.ask('owner', 'DELETE', tokens(`/${issued.id}`))).status).toBe(404)
    const events = await harness.database.prisma.auditEvent.findMany({
      where: { eventName: { startsWith: 'deploy' } },
    })
    const names = events.map(({ eventName }) => eventName)
    expect(names.toSorted()).toEqual(expect.arrayContaining(['deploy_token_created', 'deploy_token_revoked']))
    expect(JSON.stringify(events.map(({ details }) => details))).not.toContain('gldt-')
  })

  it.each([
    [{ name: ' ' }, { error: 'name is empty' }],
    [{ scopes: ['write_repository'] }, { error: 'scopes does not have a valid value' }],
    [{ scopes: [] }, { error: 'scopes is empty' }],
    [{ username: 'a b' }, { error: 'username is invalid' }],
    [{ username: 'x'.repeat(256) }, { error: 'username is too long (maximum is 255 characters)' }],
    [{ expires_at: 'soon' }, { error: 'expires_at is invalid' }],
    [{ expires_at: '2001-01-01' }, { message: { expires_at: ['cannot be a date in the past'] } }],
  ])('with %j is refused', async (fields, refusal) => {
    const { status, body } = await harness.ask('owner', 'POST', tokens(), { ...given, ...fields })
    expect([status, body]).toEqual([400, { ...refusal, request_id: expect.any(String) }])
  })

  it('is created by maintainers only, and administrators list all of them', async () => {
    expect((await harness.ask('anonymous', 'POST', tokens(), given)).status).toBe(401)
    expect((await harness.ask('developer', 'POST', tokens(), given)).status).toBe(403)
    expect((await harness.ask('stranger', 'POST', tokens(), given)).status).toBe(404)
    const { id } = await issue()
    expect((await harness.ask('owner', 'GET', '/deploy_tokens')).status).toBe(403)
    const all = await fetch(`${harness.baseUrl}/api/v4/deploy_tokens?per_page=100`, {
      headers: { 'PRIVATE-TOKEN': rootToken },
    })
    expect(await all.json()).toContainEqual(expect.objectContaining({ id }))
  })

  it('does not outlive the project token that creates it', async () => {
    const maker = { name: 'maker', scopes: ['api'], access_level: 40, expires_at: '2998-12-31' }
    const { token } = (await harness.ask('owner', 'POST', `/projects/${project.id}/access_tokens`, maker))
      .body
    const make = async (fields = {}) => {
      const response = await fetch(`${harness.baseUrl}/api/v4${tokens()}`, {
        method: 'POST',
        headers: { 'PRIVATE-TOKEN': token, 'Content-Type': 'application/json' },
        body: JSON.stringify({ ...given, ...fields }),
      })
      return { status: response.status, body: (await response.json()) as { expires_at: string } }
    }
    expect((await make()).body.expires_at).toBe('2999-01-01T00:00:00.000Z')
    expect((await make({ expires_at: '2999-01-02' })).status).toBe(400)
  })
})
