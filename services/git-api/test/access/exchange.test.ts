import type { Project } from '@switchyard/db'
import {
  createToken,
  createUser,
  type JobClaims,
  type JobIssuer,
  startJobIssuer,
  waitFor,
} from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let issuer: JobIssuer
let harness: GitHarness
let project: Project
let work: Awaited<ReturnType<typeof pushSample>>['work']
let rule: { id: number; user_id: number }

beforeAll(async () => {
  issuer = await startJobIssuer()
  const env = { TRUSTED_ISSUER_HOSTS: issuer.url, WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' }
  harness = await startGitHarness({ env })
  ;({ project, work } = await pushSample(harness))
  rule = await trust()
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
  await issuer?.close()
})

const given = { name: 'Engine', audience: 'switchyard', claims: { repository: 'acme/engine' } }

async function trust(fields = {}) {
  const body = { ...given, issuer: issuer.url, scopes: ['api', 'write_repository'], ...fields }
  return (await harness.ask('owner', 'POST', `/projects/${project.id}/trusted_issuers`, body)).body
}

let jobs = 0
function identity(changes: JobClaims = {}) {
  jobs += 1
  const job = { sub: 'repo:acme/engine', repository: 'acme/engine', ref: 'refs/heads/main', run_id: '42' }
  return issuer.token({ ...job, aud: 'switchyard', jti: `job-${jobs}`, ...changes })
}

interface Answer {
  access_token: string
  error: string
}

async function exchange(token: string, fields: Record<string, string | undefined> = {}) {
  const body = JSON.stringify({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    subject_token: token,
    resource: `${harness.baseUrl}/${project.pathWithNamespace}`,
    ...fields,
  })
  const headers = { 'Content-Type': 'application/json' }
  const answer = await fetch(`${harness.baseUrl}/api/v4/oidc/exchange`, { method: 'POST', headers, body })
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Answer }
}

async function ask(token: string, method: string, path: string) {
  const answer = await fetch(`${harness.baseUrl}/api/v4${path}`, {
    method,
    headers: { 'PRIVATE-TOKEN': token },
  })
  return answer.status
}

const issued = async (changes?: JobClaims) => (await exchange(await identity(changes))).body.access_token

describe('the exchange of an identity token', () => {
  it('returns a token for an hour in the project, with the role and the scopes of the rule', async () => {
    const { status, headers, body } = await exchange(await identity())
    expect([status, body]).toEqual([
      200,
      {
        access_token: expect.stringMatching(/^glpat-/),
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        token_type: 'Bearer',
        expires_in: 3600,
        scope: 'api write_repository',
      },
    ])
    expect(headers.get('Cache-Control')).toBe('no-store')
    const token = body.access_token
    expect(await ask(token, 'GET', `/projects/${project.id}`)).toBe(200)
    expect(await ask(token, 'GET', `/projects/${(await harness.project()).id}`)).toBe(404)
    await work.commit({ files: { 'job.txt': 'x' }, branch: 'by-exchange' })
    const remote = new URL(harness.remote('anonymous', project))
    await work.git('push', Object.assign(remote, { username: 'job', password: token }).href, 'by-exchange')
  })

  it.each([
    ['id', () => String(project.id)],
    ['path', () => project.pathWithNamespace],
    ['address for git', () => `${harness.baseUrl}/${project.pathWithNamespace}.git`],
  ])('names the project by its %s', async (_what, resource) => {
    expect((await exchange(await identity(), { resource: resource() })).status).toBe(200)
  })

  it('works once for each token, even in parallel', async () => {
    const token = await identity()
    const answers = await Promise.all([exchange(token), exchange(token), exchange(token)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400])
    const { status, body } = await exchange(token)
    expect([status, body.error]).toEqual([400, 'invalid_grant'])
    const withoutId = await identity({ jti: undefined, run_id: '43' })
    expect((await exchange(withoutId)).status).toBe(200)
    expect((await exchange(withoutId)).status).toBe(400)
  })

  it.each([
    ['another audience', { aud: 'other' }],
    ['a fork', { repository: 'mallory/engine' }],
    ['a time that is over', { exp: Math.floor(Date.now() / 1000) - 120 }],
  ])('refuses a token with %s', async (_what, changes) => {
    const { status, body } = await exchange(await identity(changes))
    expect([status, body.error]).toEqual([400, 'invalid_grant'])
  })

  it('refuses tokens of Switchyard and tokens for other projects', async () => {
    expect((await exchange(harness.tokens.owner)).body.error).toBe('invalid_grant')
    expect((await exchange(await issued())).body.error).toBe('invalid_grant')
    expect((await exchange(await identity(), { resource: '999999' })).body.error).toBe('invalid_grant')
    expect((await exchange(await identity(), { resource: undefined })).body.error).toBe('invalid_grant')
  })

  it('requires the fields of RFC 8693', async () => {
    const { status, body } = await exchange('x', { grant_type: 'client_credentials' })
    expect([status, body.error]).toEqual([400, 'invalid_request'])
  })

  it('is recorded in the audit log with the job', async () => {
    await exchange(await identity({ run_id: '4711' }))
    const where = { eventName: 'identity_token_exchanged' }
    const entry = await harness.database.prisma.auditEvent.findFirst({ where, orderBy: { id: 'desc' } })
    expect(entry).toMatchObject({
      authorId: rule.user_id,
      entityId: String(project.id),
      details: {
        name: 'Engine',
        job_issuer: issuer.url,
        job_subject: 'repo:acme/engine',
        job_repository: 'acme/engine',
        job_ref: 'refs/heads/main',
        job_run: '4711',
      },
    })
  })
})

describe('the token of a CI job', () => {
  it('cannot create, replace or list tokens, or begin a session', async () => {
    await trust({ access_level: 40 })
    const token = await issued()
    expect(await ask(token, 'POST', '/personal_access_tokens/self/rotate')).toBe(403)
    expect(await ask(token, 'POST', `/projects/${project.id}/access_tokens/self/rotate`)).toBe(403)
    const named = `?name=x&scopes[]=read_api`
    expect(await ask(token, 'POST', `/projects/${project.id}/access_tokens${named}`)).toBe(403)
    const listed = await harness.ask('owner', 'GET', `/projects/${project.id}/access_tokens`)
    expect(listed.body).toEqual([])
  })

  it('expires after its hour, and with its rule', async () => {
    const own = await trust({ claims: { repository: 'acme/brief' } })
    const [token, other] = [await issued({ repository: 'acme/brief' }), await issued()]
    const isRefused = (secret: string) =>
      waitFor(async () => (await ask(secret, 'GET', `/projects/${project.id}`)) === 401, {
        what: 'the refusal',
      })
    expect(await ask(token, 'GET', `/projects/${project.id}`)).toBe(200)
    await harness.ask('owner', 'DELETE', `/projects/${project.id}/trusted_issuers/${own.id}`)
    await isRefused(token)
    const tokens = harness.database.prisma.personalAccessToken
    await tokens.updateMany({ where: { endsAt: { not: null } }, data: { endsAt: new Date() } })
    await isRefused(other)
  })
})

it('an exchange without a project follows the rules of administrators', async () => {
  const administrator = await createUser(harness.database, { admin: true })
  const { secret } = await createToken(harness.database, administrator)
  const headers = { 'PRIVATE-TOKEN': secret, 'Content-Type': 'application/json' }
  const claims = { repository: 'acme/sagas' }
  const body = JSON.stringify({ ...given, claims, issuer: issuer.url, scopes: ['saga_report'] })
  await fetch(`${harness.baseUrl}/api/v4/trusted_issuers`, { method: 'POST', headers, body })
  const exchanged = await exchange(await identity(claims), { resource: undefined })
  expect(exchanged.body).toMatchObject({ scope: 'saga_report' })
})
