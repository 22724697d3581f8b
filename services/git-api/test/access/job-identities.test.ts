import type { Project } from '@switchyard/db'
import { type JobClaims, type JobIssuer, startJobIssuer } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let issuer: JobIssuer
let harness: GitHarness
let project: Project
let work: Awaited<ReturnType<typeof pushSample>>['work']
let sha: string

beforeAll(async () => {
  issuer = await startJobIssuer()
  const env = { TRUSTED_ISSUER_HOSTS: issuer.url, WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' }
  harness = await startGitHarness({ env })
  ;({ project, work } = await pushSample(harness))
  sha = (await work.git('rev-parse', 'main')).trim()
  await harness.ask('owner', 'POST', `/projects/${project.id}/trusted_issuers`, {
    name: 'ci',
    issuer: issuer.url,
    audience: 'switchyard',
    claims: { project_path: 'acme/engine' },
    scopes: ['api', 'write_repository'],
  })
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
  await issuer?.close()
})

const job = { sub: 'project_path:acme/engine', project_path: 'acme/engine', ref: 'main', pipeline_id: 4711 }
const tokenOf = (changes: JobClaims = {}) => issuer.token({ ...job, aud: 'switchyard', ...changes })

/** Returns the job as answers show it. */
const shown = () => ({
  issuer: issuer.url,
  subject: job.sub,
  repository: 'acme/engine',
  ref: 'main',
  run: '4711',
  url: `${issuer.url}/acme/engine/-/pipelines/4711`,
})

interface JobAnswer {
  id: number
  job_identity: { ref: string; url: string | null }
}

async function asJob(token: string, path: string, body: object) {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const init = { method: 'POST', headers, body: JSON.stringify(body) }
  const answer = await fetch(`${harness.baseUrl}/api/v4/projects/${project.id}${path}`, init)
  return { status: answer.status, body: (await answer.json()) as JobAnswer }
}

const read = async (path: string) =>
  (await harness.ask('developer', 'GET', `/projects/${project.id}${path}`)).body

const statusNamed = async (name: string) =>
  (await read(`/repository/commits/${sha}/statuses?name=${name}`))[0]

describe('a status', () => {
  it('names the job that posted it first, even when another one finishes it', async () => {
    const running = await asJob(await tokenOf(), `/statuses/${sha}`, { state: 'running', name: 'build' })
    expect(running.body.job_identity).toEqual(shown())
    const other = await tokenOf({ pipeline_id: 4712 })
    await asJob(other, `/statuses/${sha}`, { state: 'success', name: 'build' })
    expect(await statusNamed('build')).toMatchObject({ status: 'success', job_identity: shown() })
    const again = await asJob(other, `/statuses/${sha}`, { state: 'success', name: 'build' })
    expect(again.body.job_identity).toMatchObject({ run: '4712' })
  })

  it('of a user names no job', async () => {
    const at = `/projects/${project.id}/statuses/${sha}`
    const { body } = await harness.ask('developer', 'POST', at, { state: 'success', name: 'by-hand' })
    expect(body.job_identity).toBeNull()
    expect((await statusNamed('by-hand')).job_identity).toBeNull()
  })

  it('stores malicious claims as short plain texts, and never follows their links', async () => {
    const hostile = {
      ref: `<img src=x onerror=alert(1)>\u202e\0${'x'.repeat(3000)}`,
      pipeline_id: 'javascript:alert(1)',
      run_url: 'javascript:alert(1)',
    }
    const { status, body } = await asJob(await tokenOf(hostile), `/statuses/${sha}`, {
      state: 'success',
      name: 'hostile',
    })
    expect([status, body.job_identity.url, body.job_identity.ref.length]).toEqual([201, null, 255])
    expect((await statusNamed('hostile')).job_identity).toEqual(body.job_identity)
  })
})

it('a deployment names the job that created it, in every answer', async () => {
  const given = { environment: 'production', sha, ref: 'main', tag: false, status: 'running' }
  const { status, body } = await asJob(await tokenOf(), '/deployments', given)
  expect([status, body.job_identity]).toEqual([201, shown()])
  expect((await read(`/deployments/${body.id}`)).job_identity).toEqual(shown())
  expect((await read('/deployments'))[0].job_identity).toEqual(shown())
  const changed = await harness.ask('developer', 'PUT', `/projects/${project.id}/deployments/${body.id}`, {
    status: 'success',
  })
  expect(changed.body.job_identity).toEqual(shown())
})

describe('a commit', () => {
  const jobOf = async (id: string) => (await read(`/repository/commits/${id}`)).job_identity
  const remote = async (token: Promise<string>) =>
    Object.assign(new URL(harness.remote('anonymous', project)), { username: 'job', password: await token })
      .href

  it('over the API names the job', async () => {
    const { body } = await asJob(await tokenOf(), '/repository/commits', {
      branch: 'by-api',
      start_branch: 'main',
      commit_message: 'x',
      actions: [{ action: 'create', file_path: 'by-api.txt', content: 'x' }],
    })
    expect(body.job_identity).toEqual(shown())
    expect(await jobOf('by-api')).toEqual(shown())
  })

  it('that a job pushes names the job, as do its new ancestors, but not older commits', async () => {
    const first = await work.commit({ files: { 'a.txt': 'x' }, branch: 'pushed' })
    const second = await work.commit({ files: { 'b.txt': 'x' } })
    await work.git('push', '--quiet', await remote(tokenOf()), 'pushed')
    expect(await Promise.all([first, second].map(jobOf))).toEqual([shown(), shown()])
    expect(await jobOf(sha)).toBeNull()
    const other = await remote(tokenOf({ pipeline_id: 4712 }))
    await work.git('push', '--quiet', other, 'pushed:refs/heads/again', `${sha}:refs/heads/there`)
    expect(await Promise.all([second, sha].map(jobOf))).toEqual([shown(), null])
  })

  it('that a user pushes names no job', async () => {
    const own = await work.commit({ files: { 'c.txt': 'x' }, branch: 'by-hand' })
    await work.git('push', '--quiet', harness.remote('developer', project), 'by-hand')
    expect(await jobOf(own)).toBeNull()
  })
})
