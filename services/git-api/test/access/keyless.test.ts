import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Project } from '@switchyard/db'
import { type JobClaims, type JobIssuer, startJobIssuer, waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let issuer: JobIssuer
let harness: GitHarness
/** Shared by the tests that do not change its rule. */
let project: Project
let work: Awaited<ReturnType<typeof pushSample>>['work']
let rule: Rule

type Rule = { id: number; user_id: number }

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

async function trust(fields = {}, of = project) {
  const given = {
    name: 'Engine',
    issuer: issuer.url,
    audience: 'switchyard',
    claims: { repository: 'acme/engine', ref: 'refs/heads/*' },
    scopes: ['api', 'write_repository'],
  }
  const answer = await harness.ask('owner', 'POST', `/projects/${of.id}/trusted_issuers`, {
    ...given,
    ...fields,
  })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body as Rule
}

const distrust = ({ id }: Rule, of: Project) =>
  harness.ask('owner', 'DELETE', `/projects/${of.id}/trusted_issuers/${id}`)

/** Creates a project for one test, with the same rule as the shared one. */
async function trustingProject() {
  const own = await harness.project()
  return { own, ownRule: await trust({}, own) }
}

const job: JobClaims = {
  sub: 'repo:acme/engine:ref:refs/heads/main',
  aud: 'switchyard',
  repository: 'acme/engine',
  ref: 'refs/heads/main',
  run_id: '42',
}
const tokenOf = (changes: JobClaims = {}) => issuer.token({ ...job, ...changes })

/** Sends a request with a job's token as `Authorization: Bearer`. */
async function asJob(token: string, method: string, path: string, body?: unknown) {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const init = { method, headers, body: body === undefined ? null : JSON.stringify(body) }
  const answer = await fetch(`${harness.baseUrl}/api/v4${path}`, init)
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, body: text === '' ? null : JSON.parse(text) }
}

const readsCommits = async (token: string, of: string | number = project.id) =>
  (await asJob(token, 'GET', `/projects/${of}/repository/commits`)).status

const remote = (token: string, of = project) =>
  Object.assign(new URL(harness.remote('anonymous', of)), { username: 'job', password: token }).href

describe('the identity token of a job', () => {
  it('reads and writes the API of its project, addressed by id or path, as the bot of its rule', async () => {
    const token = await tokenOf()
    expect(await readsCommits(token)).toBe(200)
    expect(await readsCommits(token, encodeURIComponent(project.pathWithNamespace.toUpperCase()))).toBe(200)
    const sha = (await work.git('rev-parse', 'main')).trim()
    const status = { state: 'success', name: 'build' }
    const posted = await asJob(token, 'POST', `/projects/${project.id}/statuses/${sha}`, status)
    expect([posted.status, posted.body.author.id]).toEqual([201, rule.user_id])
  })

  it('pushes and fetches with git, as the password', async () => {
    const token = await tokenOf()
    await work.commit({ files: { 'job.txt': 'by a job' }, branch: 'by-a-job' })
    await work.git('push', remote(token), 'by-a-job')
    expect(await work.git('ls-remote', remote(token))).toContain('refs/heads/by-a-job')
    // `main` is protected, and the job is a developer.
    await work.git('switch', '--quiet', 'main')
    await work.commit({ files: { 'job.txt': 'by a job' } })
    await harness.ask('owner', 'POST', `/projects/${project.id}/protected_branches`, { name: 'main' })
    await expect(work.git('push', remote(token), 'main')).rejects.toThrow(/protected|not allowed/)
  })

  it('uploads and downloads objects of Git LFS', async () => {
    const bytes = new Uint8Array(randomBytes(100))
    const oid = createHash('sha256').update(bytes).digest('hex')
    const at = `${harness.baseUrl}/${project.pathWithNamespace}.git/gitlab-lfs/objects/${oid}`
    const headers = { Authorization: `Basic ${btoa(`job:${await tokenOf()}`)}` }
    expect((await fetch(`${at}/100`, { method: 'PUT', headers, body: bytes })).status).toBe(200)
    const down = await fetch(at, { headers })
    expect(Buffer.from(await down.arrayBuffer()).equals(bytes)).toBe(true)
  })

  it.each([
    ['another audience', { aud: 'other' }],
    ['another repository', { repository: 'acme/other' }],
    ['a fork', { repository: 'mallory/engine', sub: 'repo:mallory/engine' }],
    ['a tag, of which no rule speaks', { ref: 'refs/tags/v1' }],
    ['no repository', { repository: undefined }],
    ['a time that is over', { exp: Math.floor(Date.now() / 1000) - 120 }],
    ['a time that is to come', { iat: Math.floor(Date.now() / 1000) + 3600 }],
    ['an issuer that nobody allows', { iss: 'https://other.example.com' }],
    ['an issuer that is allowed, and that no rule names', { iss: 'placeholder' }],
    ['8 KB of text', { filling: 'x'.repeat(8192) }],
  ])('with %s is refused', async (what, changes) => {
    const iss = 'iss' in changes && what.includes('allowed') ? { iss: `${issuer.url}/other` } : {}
    const token = await tokenOf({ ...changes, ...iss })
    expect(await readsCommits(token)).toBe(401)
    await expect(work.git('ls-remote', remote(token))).rejects.toThrow('Authentication failed')
  })

  it('works in no other project, and in no request without a project', async () => {
    const token = await tokenOf()
    const other = await harness.project()
    expect(await readsCommits(token, other.id)).toBe(401)
    expect((await asJob(token, 'GET', '/user')).status).toBe(401)
    expect((await asJob(token, 'GET', '/projects')).status).toBe(401)
    await trust({ scopes: ['read_api'] }, other)
    await waitFor(async () => (await readsCommits(token, other.id)) === 200, { what: 'the new rule' })
    const deleted = await asJob(token, 'DELETE', `/projects/${other.id}/repository/branches/main`)
    expect(deleted.status).toBe(403)
  })

  it('has the highest role of the rules that it matches', async () => {
    const { own } = await trustingProject()
    await trust({ claims: { repository: 'acme/*' }, access_level: 40, name: 'Maintains' }, own)
    await trust({ claims: { repository: 'acme/engine' }, access_level: 20 }, own)
    const token = await tokenOf()
    expect((await asJob(token, 'GET', `/projects/${own.id}/trusted_issuers`)).status).toBe(200)
  })

  it('leaves no token and no rule behind, whatever its role is', async () => {
    const { own } = await trustingProject()
    await trust({ access_level: 40 }, own)
    const token = await tokenOf()
    const at = (path: string) => `/projects/${own.id}/${path}`
    const named = { name: 'x', scopes: ['read_repository'] }
    const answers = [
      await asJob(token, 'POST', at('access_tokens'), named),
      await asJob(token, 'POST', at('deploy_tokens'), named),
      await asJob(token, 'POST', at('trusted_issuers'), {
        ...named,
        issuer: issuer.url,
        claims: { sub: 'x' },
      }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403])
  })

  it('is refused while administrators allow no issuer', async () => {
    const off = await startGitHarness()
    const headers = { Authorization: `Bearer ${await tokenOf()}` }
    const answer = await fetch(`${off.baseUrl}/api/v4/projects/1/repository/commits`, { headers })
    await off.close()
    expect(answer.status).toBe(401)
  })
})

describe('a rule', () => {
  it('has no effect once it is removed', async () => {
    const { own, ownRule } = await trustingProject()
    const token = await tokenOf()
    expect(await readsCommits(token, own.id)).toBe(200)
    await distrust(ownRule, own)
    expect(await readsCommits(token, own.id)).toBe(401)
  })

  it('that is removed during a push ends the push', async () => {
    const { own, ownRule } = await trustingProject()
    const token = await tokenOf()
    const at = `${harness.baseUrl}/${own.pathWithNamespace}.git/git-receive-pack`
    const headers = {
      Authorization: `Basic ${btoa(`job:${token}`)}`,
      'Content-Type': 'application/x-git-receive-pack-request',
    }
    const endless = new ReadableStream({ start: (stream) => stream.enqueue(Buffer.from('00ff0000')) })
    const pushed = fetch(at, { method: 'POST', headers, body: endless, duplex: 'half' } as RequestInit).then(
      ({ status }) => status,
      () => 'cut',
    )
    // This is longer than the interval at which a sender is checked again.
    expect(await Promise.race([pushed, delay(1000)])).toBeUndefined()
    await distrust(ownRule, own)
    expect(['cut', 401, 400]).toContain(await pushed)
  })

  it('has no effect while the user who created it is blocked, and expires on its last day', async () => {
    const { own, ownRule } = await trustingProject()
    const token = await tokenOf()
    const { prisma } = harness.database
    const { createdBy } = await prisma.trustedIssuer.findUniqueOrThrow({ where: { id: ownRule.id } })
    const setState = (state: string) => prisma.user.update({ where: { id: createdBy ?? 0 }, data: { state } })
    const becomes = (status: number) =>
      waitFor(async () => (await readsCommits(token, own.id)) === status, { what: `${status}` })
    await setState('blocked')
    await becomes(401)
    await setState('active')
    await becomes(200)
    await prisma.trustedIssuer.update({
      where: { id: ownRule.id },
      data: { expiresAt: new Date('2020-01-01') },
    })
    await becomes(401)
  })
})

describe('jobs of one rule and subject', () => {
  it('share the rate limit, however many tokens they send', async () => {
    const limited = await startGitHarness({
      env: {
        TRUSTED_ISSUER_HOSTS: issuer.url,
        WEBHOOK_ALLOWED_HOSTS: '127.0.0.1',
        RATE_LIMIT_PER_MINUTE: '5',
      },
    })
    const own = await limited.project()
    const given = { name: 'x', issuer: issuer.url, audience: 'switchyard', claims: { repository: '*' } }
    const claims = { ...given.claims, repository: 'acme/*' }
    await limited.ask('owner', 'POST', `/projects/${own.id}/trusted_issuers`, {
      ...given,
      claims,
      scopes: ['read_api'],
    })
    const ask = async (changes: JobClaims) => {
      const headers = { Authorization: `Bearer ${await tokenOf(changes)}` }
      return (await fetch(`${limited.baseUrl}/api/v4/projects/${own.id}`, { headers })).status
    }
    const statuses = []
    for (let run = 0; run < 6; run += 1) statuses.push(await ask({ run_id: run }))
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
    expect(await ask({ sub: 'repo:acme/other' })).toBe(200)
    expect((await limited.ask('owner', 'GET', `/projects/${own.id}`)).status).toBe(200)
    await limited.close()
  })
})

it('while the issuer is down, a job with unknown keys is asked to retry', async () => {
  const away = await startJobIssuer()
  const other = await startGitHarness({
    env: { TRUSTED_ISSUER_HOSTS: away.url, WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' },
  })
  const own = await other.project()
  await other.ask('owner', 'POST', `/projects/${own.id}/trusted_issuers`, {
    name: 'x',
    issuer: away.url,
    audience: 'switchyard',
    scopes: ['read_api'],
    claims: { repository: 'acme/engine' },
  })
  await away.close()
  const headers = { Authorization: `Bearer ${await away.token(job)}` }
  const answer = await fetch(`${other.baseUrl}/api/v4/projects/${own.id}`, { headers })
  await other.close()
  expect(answer.status).toBe(503)
})
