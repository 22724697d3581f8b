import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Project } from '@switchyard/db'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, sessionsOf, startGitHarness } from './git-harness.js'

let harness: GitHarness
let stuck: Project
let project: Project
const closing: { close(): Promise<unknown> }[] = []

/** The references of `stuck` are in a pipe that nobody writes to, so every process that reads them waits until it is ended. */
beforeAll(async () => {
  harness = await startGitHarness({ env: { GIT_SESSIONS_PER_USER_MAX: '2' } })
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
})

type Who = Parameters<GitHarness['send']>[0]

/** Asks from an address, until the signal. */
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
    await expect.poll(() => slots('process', 'waiting'), { timeout: 20_000 }).toBeGreaterThan(20)
    const held = await slots('process', 'held')
    expect(held).toBeGreaterThan(1)
    expect(await ask(neighbour, project, '203.0.113.1')).toBe(200)
    expect(await ask('anonymous', project, '203.0.113.2')).toBe(200)
    expect(await slots('process', 'held')).toBe(held)
    leaving.abort()
    expect(new Set(await Promise.all(attacks))).toEqual(new Set(['AbortError']))
    await expect.poll(() => slots('process', 'held'), { timeout: 10_000 }).toBe(0)
    await expect.poll(() => sessionsOf(harness, stuck), { timeout: 10_000 }).toEqual([])
  },
)

test('fetches without a token count by their address', async () => {
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
  await expect.poll(() => slots('stream', 'held'), { timeout: 10_000 }).toBe(0)
})
