import { createHash } from 'node:crypto'
import { createToken, createUser } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GitHarness, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let admin: string
let project: Awaited<ReturnType<GitHarness['project']>>

const issuer = 'https://ci.example.com'
const given = {
  name: 'main of the engine',
  issuer,
  claims: { repository: 'acme/engine', ref: 'refs/heads/*' },
  scopes: ['write_repository'],
}

beforeAll(async () => {
  harness = await startGitHarness({ env: { TRUSTED_ISSUER_HOSTS: 'ci.example.com' } })
  project = await harness.project()
  const administrator = await createUser(harness.database, { username: 'ida', admin: true })
  admin = (await createToken(harness.database, administrator)).secret
})
afterAll(() => harness?.close())

const path = (suffix = '', of = project) => `/projects/${of.id}/trusted_issuers${suffix}`

async function trust(fields = {}, of = project) {
  const { status, body } = await harness.ask('owner', 'POST', path('', of), { ...given, ...fields })
  expect(status, JSON.stringify(body)).toBe(201)
  return body as { id: number; user_id: number }
}

/** Sends a request with a secret, and reads its answer. */
async function askAs(secret: string, method: string, at: string, body?: unknown, base = harness.baseUrl) {
  const headers = { 'PRIVATE-TOKEN': secret, 'Content-Type': 'application/json' }
  const init = { method, headers, body: body === undefined ? null : JSON.stringify(body) }
  const answer = await fetch(`${base}/api/v4${at}`, init)
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? null : JSON.parse(text) }
}

const asAdmin = (method: string, at: string, body?: unknown) => askAs(admin, method, at, body)

const auditOf = async (event: string, id: number) =>
  (await asAdmin('GET', `/audit_events?event_name=${event}`)).body.find(
    ({ details }: { details: { trusted_issuer_id: number } }) => details.trusted_issuer_id === id,
  )

describe('a rule of a project', () => {
  it('is shown with its bot, which is a member with its role', async () => {
    const rule = await trust({ expires_at: '2999-12-31', audience: 'switchyard' })
    const shown = {
      id: rule.id,
      ...given,
      audience: 'switchyard',
      access_level: 30,
      tenants: null,
      user_id: rule.user_id,
      active: true,
      expires_at: '2999-12-31',
      created_at: expect.stringMatching(/Z$/),
    }
    expect(rule).toEqual(shown)
    expect((await harness.ask('owner', 'GET', path(`/${rule.id}`))).body).toEqual(shown)
    const listed = await harness.ask('owner', 'GET', path())
    expect(listed.body).toContainEqual(shown)
    expect(listed.headers.get('X-Total')).toBe(String(listed.body.length))
    const member = await harness.ask('owner', 'GET', `/projects/${project.id}/members/${rule.user_id}`)
    expect(member.body).toMatchObject({ access_level: 30, name: given.name })
  })

  it('expects the address of the project as audience by default', async () => {
    expect(await trust()).toMatchObject({ audience: `${harness.baseUrl}/${project.pathWithNamespace}` })
  })

  it('is in the audit log when it is added and removed, and its bot then leaves the project', async () => {
    const rule = await trust({ access_level: 40 })
    expect(await auditOf('trusted_issuer_added', rule.id)).toMatchObject({
      entity_type: 'Project',
      entity_id: String(project.id),
      details: {
        name: given.name,
        issuer,
        claims: ['repository=acme/engine', 'ref=refs/heads/*'],
        scopes: ['write_repository'],
        access_level: 40,
      },
    })
    expect((await harness.ask('owner', 'DELETE', path(`/${rule.id}`))).status).toBe(204)
    expect((await harness.ask('owner', 'DELETE', path(`/${rule.id}`))).status).toBe(404)
    expect(await auditOf('trusted_issuer_removed', rule.id)).toMatchObject({ details: { issuer } })
    const member = await harness.ask('owner', 'GET', `/projects/${project.id}/members/${rule.user_id}`)
    expect(member.status).toBe(404)
  })

  it.each([
    [{ issuer: 'https://other.example.com' }, 'is not on a host that administrators allow'],
    [{ issuer: 'ci.example.com' }, 'must be a URL'],
    [{ claims: { ref: 'main' } }, 'must have one of sub'],
    [{ claims: { repository: '*' } }, 'must have one of sub'],
    [{ expires_at: '2001-01-01' }, 'must be today or later'],
  ])('is refused with %j', async (fields, problem) => {
    const { status, body } = await harness.ask('owner', 'POST', path(), { ...given, ...fields })
    expect(status).toBe(400)
    expect(JSON.stringify(body)).toContain(problem)
  })

  it.each([
    [{ name: ' ' }, 'name is empty'],
    [{ claims: 'repository' }, 'claims is invalid'],
    [{ scopes: ['saga_report'] }, 'scopes does not have a valid value'],
    [{ access_level: 50 }, 'access_level does not have a valid value'],
    [{ expires: '2999-01-31' }, 'expires is not a parameter'],
  ])('is refused with %j before any rule is asked', async (fields, error) => {
    const { status, body } = await harness.ask('owner', 'POST', path(), { ...given, ...fields })
    expect([status, body.error]).toEqual([400, error])
  })

  it('needs a maintainer, who cannot grant a higher role than their own', async () => {
    const rule = await trust()
    for (const [method, body] of [['GET'], ['POST', given]] as const) {
      expect((await harness.ask('developer', method, path(), body)).status).toBe(403)
      expect((await harness.ask('stranger', method, path(), body)).status).toBe(404)
      expect((await harness.send('anonymous', method, path())).status).toBe(401)
    }
    expect((await harness.ask('developer', 'DELETE', path(`/${rule.id}`))).status).toBe(403)
    const other = await harness.project()
    expect((await harness.ask('owner', 'GET', path(`/${rule.id}`, other))).status).toBe(404)
    expect((await harness.ask('owner', 'DELETE', path(`/${rule.id}`, other))).status).toBe(404)
  })

  it('of a project token expires no later than that token', async () => {
    const asked = { name: 'bot', scopes: ['api'], access_level: 40, expires_at: '2999-01-31' }
    const issued = await harness.ask('owner', 'POST', `/projects/${project.id}/access_tokens`, asked)
    const send = (fields = {}) => askAs(issued.body.token, 'POST', path(), { ...given, ...fields })
    expect((await send()).body).toMatchObject({ expires_at: '2999-01-31' })
    expect((await send({ expires_at: '2999-02-01' })).status).toBe(400)
    const hash = new Uint8Array(createHash('sha256').update(issued.body.token).digest())
    const token = await harness.database.prisma.personalAccessToken.findUnique({ where: { tokenHash: hash } })
    const made = await harness.database.prisma.trustedIssuer.findMany({ orderBy: { id: 'desc' }, take: 1 })
    expect(made[0]?.createdBy).toBe(token?.createdBy)
  })

  it('is limited to twenty in a project', async () => {
    const full = await harness.project()
    for (let count = 0; count < 20; count += 1) await trust({}, full)
    const { status, body } = await harness.ask('owner', 'POST', path('', full), given)
    expect([status, JSON.stringify(body)]).toEqual([
      400,
      expect.stringContaining('20 trusted issuers at most'),
    ])
  })
})

describe('a rule outside of projects', () => {
  const outside = { ...given, scopes: ['saga_report'], tenants: ['acme'] }

  it('is created, shown and removed only by administrators, for operations', async () => {
    const { status, body: rule } = await asAdmin('POST', '/trusted_issuers', outside)
    expect([status, rule]).toEqual([
      201,
      expect.objectContaining({ scopes: ['saga_report'], tenants: ['acme'], access_level: null }),
    ])
    expect(rule.audience).toBe(harness.baseUrl)
    expect((await asAdmin('GET', '/trusted_issuers')).body).toEqual([rule])
    const one = `/trusted_issuers/${rule.id}`
    expect((await asAdmin('GET', one)).body).toEqual(rule)
    for (const [method, at] of [
      ['GET', '/trusted_issuers'],
      ['POST', '/trusted_issuers'],
      ['GET', one],
      ['DELETE', one],
    ] as const) {
      expect((await harness.ask('owner', method, at)).status).toBe(403)
      expect((await harness.send('anonymous', method, at)).status).toBe(401)
    }
    expect((await harness.ask('owner', 'GET', path(`/${rule.id}`))).status).toBe(404)
    expect((await asAdmin('DELETE', one)).status).toBe(204)
    expect((await asAdmin('GET', one)).status).toBe(404)
    expect(await auditOf('trusted_issuer_removed', rule.id)).toMatchObject({ entity_type: 'User' })
  })

  it('cannot have scopes for projects', async () => {
    const { status } = await asAdmin('POST', '/trusted_issuers', { ...outside, scopes: ['api'] })
    expect(status).toBe(400)
  })
})

it('no job is trusted while administrators allow no issuer', async () => {
  const off = await startGitHarness()
  const own = await off.project()
  const { status, body } = await off.ask('owner', 'POST', path('', own), given)
  await off.close()
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('TRUSTED_ISSUER_HOSTS')])
})
