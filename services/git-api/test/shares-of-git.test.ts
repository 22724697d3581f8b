import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Project } from '@switchyard/db'
import { type JobIssuer, startJobIssuer } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, sessionsOf, startGitHarness } from './git-harness.js'

let harness: GitHarness
let issuer: JobIssuer
let stuck: Project
let project: Project
const closing: { close(): Promise<unknown> }[] = []

/**
 * The references of `stuck` are in a pipe without a writer, so every process that reads them waits until it
 * is ended.
 */
beforeAll(async () => {
  issuer = await startJobIssuer()
  const env = { TRUSTED_ISSUER_HOSTS: issuer.url, WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' }
  harness = await startGitHarness({ env: { GIT_SESSIONS_PER_USER_MAX: '2', ...env } })
  for (const visibility of ['public', 'public'] as const) {
    const sample = await pushSample(harness, { visibility })
    closing.push(sample.work)
    stuck ??= sample.project
    project = sample.project
  }
  const references = join(harness.pathOf(stuck), 'packed-refs')
  await rm(references, { force: true })
  await promisify(execFile)('mkfifo', [references])
})
afterAll(async () => {
  for (const one of closing) await one.close()
  await harness?.close()
  await issuer?.close()
})

type Who = Parameters<GitHarness['send']>[0]

/** Sends a request from an address, until the signal aborts it. */
async function ask(who: Who, of: Project, address: string, signal?: AbortSignal): Promise<number> {
  const { origin, password } = new URL(harness.remote(who, of))
  const headers = { 'X-Forwarded-For': address, ...(who !== 'anonymous' && { 'PRIVATE-TOKEN': password }) }
  const path = `/api/v4/projects/${of.id}/repository/branches`
  const answer = await fetch(`${origin}${path}`, { headers, ...(signal && { signal }) })
  await answer.arrayBuffer()
  return answer.status
}

async function slots(work: string, state: string): Promise<number> {
  const { origin } = new URL(harness.remote('owner', project))
  const text = await (await fetch(`${origin}/metrics`)).text()
  const line = new RegExp(`^git_api_slots\\{[^}]*work="${work}",state="${state}"[^}]*\\} (\\d+)$`, 'm')
  return Number(line.exec(text)?.[1])
}

test.each([
  ['one user', 'developer', 'another user', 'owner'],
  ['one address without a token', 'anonymous', 'a user', 'owner'],
] as const)(
  '%s that fills its share of git stops neither %s nor other addresses, and leaves nothing behind',
  async (_one, attacker, _another, neighbour) => {
    const leaving = new AbortController()
    const attacks = Array.from({ length: 60 }, () =>
      ask(attacker, stuck, '203.0.113.1', leaving.signal).catch((error: Error) => error.name),
    )
    await expect.poll(() => slots('process', 'waiting')).toBeGreaterThan(20)
    const held = await slots('process', 'held')
    expect(held).toBeGreaterThan(1)
    expect(await ask(neighbour, project, '203.0.113.1')).toBe(200)
    expect(await ask('anonymous', project, '203.0.113.2')).toBe(200)
    expect(await slots('process', 'held')).toBe(held)
    leaving.abort()
    expect(new Set(await Promise.all(attacks))).toEqual(new Set(['AbortError']))
    await expect.poll(() => slots('process', 'held')).toBe(0)
    await expect.poll(() => sessionsOf(harness, stuck)).toEqual([])
  },
)

test('fetches without a token share the limit of their address', async () => {
  const listOf = async (address: string, of: Project, signal?: AbortSignal) => {
    const url = `${harness.remote('anonymous', of)}/info/refs?service=git-upload-pack`
    const headers = { 'X-Forwarded-For': address }
    return (await fetch(url, { headers, ...(signal && { signal }) })).text()
  }
  const leaving = new AbortController()
  const held = Array.from({ length: 3 }, () =>
    listOf('203.0.113.3', stuck, leaving.signal).catch((error: Error) => error.name),
  )
  await expect.poll(() => slots('stream', 'waiting')).toBe(1)
  expect(await slots('stream', 'held')).toBe(2)
  expect(await listOf('203.0.113.4', project)).toContain('refs/heads/main')
  leaving.abort()
  expect(await Promise.all(held)).toEqual(['AbortError', 'AbortError', 'AbortError'])
  await expect.poll(() => slots('stream', 'held')).toBe(0)
})

test('jobs with the same rule and subject share a limit of fetches, and do not block another subject or a user', async () => {
  const rule = { name: 'CI', audience: 'switchyard', claims: { repository: 'acme/engine' } }
  const { status } = await harness.ask('owner', 'POST', `/projects/${stuck.id}/trusted_issuers`, {
    ...rule,
    issuer: issuer.url,
    access_level: 30,
    scopes: ['api', 'write_repository'],
  })
  expect(status).toBe(201)
  const leaving = new AbortController()
  let runs = 0
  const beginPush = async (sub: string) => {
    runs += 1
    const claims = { sub, aud: 'switchyard', repository: 'acme/engine', run_id: runs }
    const Authorization = `Basic ${btoa(`job:${await issuer.token(claims)}`)}`
    const url = `${harness.baseUrl}/${stuck.pathWithNamespace}.git/info/refs?service=git-receive-pack`
    return fetch(url, { headers: { Authorization }, signal: leaving.signal })
      .then((answer) => answer.text())
      .catch(({ name }: Error) => name)
  }
  const first = Array.from({ length: 4 }, () => beginPush('one'))
  await expect.poll(() => slots('stream', 'waiting')).toBe(2)
  expect(await slots('stream', 'held')).toBe(2)
  const second = beginPush('another')
  await expect.poll(() => slots('stream', 'held')).toBe(3)
  expect(await slots('stream', 'waiting')).toBe(2)
  const list = await fetch(`${harness.remote('anonymous', project)}/info/refs?service=git-upload-pack`)
  expect(list.status).toBe(200)
  expect(await ask('owner', project, '203.0.113.5')).toBe(200)
  leaving.abort()
  expect(new Set(await Promise.all([...first, second]))).toEqual(new Set(['AbortError']))
  await expect.poll(() => slots('stream', 'held')).toBe(0)
})
