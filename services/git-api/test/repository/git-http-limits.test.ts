import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { Project } from '@switchyard/db'
import { packetLine } from '@switchyard/git-storage/git-http'
import { createGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, sessionsOf, startGitHarness } from '../git-harness.js'

/** Disconnects clients that stall for a second. */
let impatient: GitHarness
/** Lets one user have two sessions at once, and limits rates. */
let narrow: GitHarness
/** Lets all users have four sessions at once, and reserves one for users with at most one. */
let full: GitHarness

beforeAll(async () => {
  impatient = await startGitHarness({ env: { GIT_IDLE_TIMEOUT_MS: '1000' } })
  narrow = await startGitHarness({ env: { GIT_SESSIONS_PER_USER_MAX: '2', RATE_LIMIT_PER_MINUTE: '6000' } })
  full = await startGitHarness({ env: { GIT_SESSIONS_MAX: '4' } })
})
afterAll(async () => {
  await impatient?.close()
  await narrow?.close()
  await full?.close()
})

type Service = 'git-receive-pack' | 'git-upload-pack'
type User = Parameters<GitHarness['remote']>[0]

/** Sends only the beginning of a request. */
function begin(harness: GitHarness, service: Service, project: Project, start: string, user: User = 'owner') {
  const { origin, pathname, username, password } = new URL(harness.remote(user, project))
  const request = httpRequest(`${origin}${pathname}/${service}`, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${btoa(`${username}:${password}`)}`,
      'Content-Type': `application/x-${service}-request`,
    },
  })
  const answer = new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    request.on('error', reject)
    request.on('response', (response) => {
      response.setEncoding('latin1')
      const chunks: string[] = []
      response.on('data', (chunk: string) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode, text: chunks.join('') }))
    })
  })
  answer.catch(() => undefined)
  request.write(start)
  return { request, answer }
}

const command = (ref: string, capabilities = '') =>
  packetLine(`${'0'.repeat(40)} ${'1'.repeat(40)} ${ref}${capabilities && `\0${capabilities}`}`)

test('a push that stalls before its references is ended before git starts', async () => {
  const project = await impatient.project()
  const { answer } = begin(impatient, 'git-receive-pack', project, '00')
  expect(await answer).toEqual({ status: 408, text: expect.stringContaining('nothing was sent or received') })
})

test('a push that stalls within its pack is ended', async () => {
  const project = await impatient.project()
  const start = `${command('refs/heads/main', 'report-status')}0000PACK`
  const { answer } = begin(impatient, 'git-receive-pack', project, start)
  // git's message about the end of its input is not a complete answer.
  await expect(answer).rejects.toThrow(/aborted|socket hang up/)
  expect(await sessionsOf(impatient, project)).toEqual([])
})

test('an upload of an LFS object that stalls is ended, and leaves no file', async () => {
  const project = await impatient.project()
  const { origin, pathname, username, password } = new URL(impatient.remote('owner', project))
  const request = httpRequest(`${origin}${pathname}/gitlab-lfs/objects/${'ab'.repeat(32)}/1000`, {
    method: 'PUT',
    headers: { Authorization: `Basic ${btoa(`${username}:${password}`)}`, 'Content-Length': '1000' },
  })
  request.write('begun')
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  expect([response.statusCode, response.headers.connection]).toEqual([408, 'close'])
  request.destroy()
  expect(await readdir(join(impatient.pathOf(project), 'lfs', 'tmp'))).toEqual([])
})

test('a fetch whose client stalls is ended', async () => {
  const project = await impatient.project()
  const { answer } = begin(impatient, 'git-upload-pack', project, '0032want')
  expect(await answer).toEqual({ status: 408, text: expect.stringContaining('nothing was sent or received') })
  expect(await sessionsOf(impatient, project)).toEqual([])
})

test('a fetch whose answer is not read is ended', async () => {
  const project = await impatient.project()
  const source = await createGitRepository()
  const head = await source.commit({ files: { 'big.bin': randomBytes(32 * 1024 * 1024) } })
  await source.git('push', '--quiet', impatient.pathOf(project), 'main')
  const question = `${packetLine(`want ${head}\n`)}0000${packetLine('done\n')}`
  const { request } = begin(impatient, 'git-upload-pack', project, question)
  const response = new Promise<IncomingMessage>((resolve) =>
    request.on('response', (given) => resolve(given.pause())),
  )
  request.end()
  await response
  expect(await sessionsOf(impatient, project)).toHaveLength(1)
  await expect.poll(() => sessionsOf(impatient, project)).toEqual([])
  request.destroy()
  await source.close()
})

test('one user cannot hold more sessions than allowed, waits for a free one, and blocks nobody else', async () => {
  const project = await narrow.project()
  const start = `${command('refs/heads/main', 'report-status')}0000`
  const held = [1, 2].map(() => begin(narrow, 'git-receive-pack', project, start))
  await expect.poll(() => sessionsOf(narrow, project)).toHaveLength(2)
  const work = await createGitRepository()
  await work.commit({ files: { a: 'a' } })
  const waiting = work.git('ls-remote', narrow.remote('owner', project))
  await work.git('push', '--quiet', narrow.remote('developer', project), 'main')
  for (const { request } of held) request.destroy()
  expect(await waiting).toContain('refs/heads/main')
  await work.close()
})

test('a user with a hundred waiting sessions is refused with 429', async () => {
  const project = await narrow.project()
  const start = `${command('refs/heads/main', 'report-status')}0000`
  const begun = Array.from({ length: 103 }, () => begin(narrow, 'git-receive-pack', project, start))
  const first = await Promise.race(begun.map(({ answer }) => answer))
  const error = 'You have too many fetches and pushes under way. Try again later.'
  expect([first.status, JSON.parse(first.text)]).toEqual([
    429,
    { message: { error }, request_id: expect.any(String) },
  ])
  for (const { request } of begun) request.destroy()
  await expect.poll(() => sessionsOf(narrow, project)).toEqual([])
})

test('one user cannot take every session, and others are served in turn when all are taken', async () => {
  const project = await full.project()
  const start = `${command('refs/heads/main', 'report-status')}0000`
  const ofOne = Array.from({ length: 5 }, () => begin(full, 'git-receive-pack', project, start))
  await expect.poll(() => sessionsOf(full, project)).toHaveLength(3)
  const work = await createGitRepository()
  await work.commit({ files: { a: 'a' } })
  await work.git('push', '--quiet', full.remote('developer', project), 'main')
  expect(await sessionsOf(full, project)).toHaveLength(3)

  const ofAnother = begin(full, 'git-receive-pack', project, start, 'developer')
  await expect.poll(() => sessionsOf(full, project)).toHaveLength(4)
  const waiting = Array.from({ length: 101 }, () =>
    begin(full, 'git-upload-pack', project, '0032want', 'reporter'),
  )
  const refused = await Promise.race(waiting.map(({ answer }) => answer))
  expect([refused.status, JSON.parse(refused.text)]).toMatchObject([
    503,
    { message: '503 Service Unavailable - too many fetches and pushes are under way' },
  ])
  const { origin } = new URL(full.remote('owner', project))
  const metrics = await (await fetch(`${origin}/metrics`)).text()
  expect(metrics).toMatch(/^git_api_slots\{[^}]*work="stream",state="held"[^}]*\} 4$/m)
  expect(metrics).toMatch(/^git_api_slots\{[^}]*work="stream",state="waiting"[^}]*\} 102$/m)
  for (const { request } of waiting) request.destroy()
  const served = work.git('ls-remote', full.remote('developer', project))
  ofAnother.request.destroy()
  expect(await served).toContain('refs/heads/main')
  for (const { request } of ofOne) request.destroy()
  await expect.poll(() => sessionsOf(full, project)).toEqual([])
  await work.close()
})

const tooMany = 'A push can change 20000 references at most; push them in several parts'

test.each([
  ['report-status side-band-64k', 200, `\x01${packetLine(`unpack ${tooMany}\n`)}0000`],
  ['report-status-v2', 200, `${packetLine(`unpack ${tooMany}\n`)}0000`],
  ['delete-refs', 413, tooMany],
])('a push of too many references is refused for a client of %s', async (capabilities, status, text) => {
  const project = await narrow.project()
  const more = Array.from({ length: 20_000 }, (_, number) => command(`refs/tags/t${number}`))
  const commands = command('refs/tags/t', capabilities) + more.join('')
  const { request, answer } = begin(narrow, 'git-receive-pack', project, commands)
  request.end('0000')
  expect(await answer).toEqual({ status, text: expect.stringContaining(text) })
})

test('an address that sends random passwords is refused, over git and the API alike, but not with valid ones', async () => {
  const project = await narrow.project()
  const { origin, pathname, password: good } = new URL(narrow.remote('owner', project))
  const ask = (password: string) =>
    fetch(`${origin}${pathname}/info/refs?service=git-upload-pack`, {
      headers: { Authorization: `Basic ${btoa(`any:${password}`)}` },
    })
  expect((await ask(good)).status).toBe(200)
  const unknown = await ask('random')
  expect([unknown.status, unknown.headers.get('WWW-Authenticate')]).toEqual([
    401,
    'Basic realm="Switchyard", charset="UTF-8"',
  ])
  for (let number = 1; number < 60; number += 1) expect((await ask(`random-${number}`)).status).toBe(401)
  const refused = await ask('random-60')
  expect([refused.status, refused.headers.get('WWW-Authenticate')]).toEqual([429, null])
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0)
  const overApi = await fetch(`${origin}/api/v4/user`, { headers: { 'PRIVATE-TOKEN': 'random-61' } })
  expect(overApi.status).toBe(429)
  expect((await ask(good)).status).toBe(200)
})
