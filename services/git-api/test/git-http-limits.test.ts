import { writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import type { Project } from '@switchyard/db'
import { createGitRepository } from '@switchyard/testing'
import { afterEach, expect, test } from 'vitest'
import { type GitHarness, sessionsOf, startGitHarness } from './git-harness.js'

let harness: GitHarness

afterEach(() => harness?.close())

type Service = 'git-receive-pack' | 'git-upload-pack'

/** A request of which only the beginning is sent so far. */
function begin(service: Service, project: Project, start: string) {
  const { origin, pathname, username, password } = new URL(harness.remote('owner', project))
  const request = httpRequest(`${origin}${pathname}/${service}`, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${btoa(`${username}:${password}`)}`,
      'Content-Type': `application/x-${service}-request`,
    },
  })
  const answer = new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    request.on('error', reject)
    request.on('response', async (response) => {
      let text = ''
      for await (const chunk of response.setEncoding('latin1')) text += chunk
      resolve({ status: response.statusCode, text })
    })
  })
  answer.catch(() => undefined)
  request.write(start)
  return { request, answer }
}

const packet = (text: string) => (text.length + 4).toString(16).padStart(4, '0') + text
const command = (ref: string, capabilities = '') =>
  packet(`${'0'.repeat(40)} ${'1'.repeat(40)} ${ref}${capabilities && `\0${capabilities}`}`)

test('a push that stands still before its references, or within its pack, is ended', async () => {
  harness = await startGitHarness({ env: { GIT_IDLE_TIMEOUT_MS: '500' } })
  const project = await harness.project()
  const text = expect.stringContaining('Nothing was sent or taken for 1 seconds')
  expect(await begin('git-receive-pack', project, '00').answer).toEqual({ status: 400, text })
  const whole = `${command('refs/heads/main', 'report-status')}0000PACK`
  const { answer } = begin('git-receive-pack', project, whole)
  await expect.poll(() => sessionsOf(harness, project)).toEqual([])
  await answer.catch((error: Error) => expect(error.message).toMatch(/socket hang up|aborted/))
})

test('a fetch whose client stands still is ended', async () => {
  harness = await startGitHarness({ env: { GIT_IDLE_TIMEOUT_MS: '500' } })
  const project = await harness.project()
  const { answer } = begin('git-upload-pack', project, '0032want')
  expect(await answer).toEqual({ status: 400, text: expect.stringContaining('Nothing was sent or taken') })
  expect(await sessionsOf(harness, project)).toEqual([])
})

test('a fetch whose answer nobody takes is ended', async () => {
  harness = await startGitHarness({ env: { GIT_IDLE_TIMEOUT_MS: '1000' } })
  const project = await harness.project()
  const source = await createGitRepository()
  const bytes = Buffer.alloc(32 * 1024 * 1024)
  for (let at = 0, seed = 1; at < bytes.length; at += 4) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    bytes.writeUInt32LE(seed, at)
  }
  const head = await source.commit({ files: { 'big.bin': bytes } })
  await source.git('push', '--quiet', harness.remote('owner', project), 'main')
  const { request } = begin('git-upload-pack', project, `${packet(`want ${head}\n`)}0000${packet('done\n')}`)
  request.on('response', (response) => response.pause())
  request.end()
  await expect.poll(() => sessionsOf(harness, project)).toHaveLength(1)
  await expect.poll(() => sessionsOf(harness, project)).toEqual([])
  request.destroy()
  await source.close()
})

test('one user cannot hold more sessions than allowed, waits for a free one, and stops nobody else', async () => {
  harness = await startGitHarness({ env: { GIT_SESSIONS_PER_USER_MAX: '2' } })
  const project = await harness.project()
  const start = `${command('refs/heads/main', 'report-status')}0000`
  const held = [1, 2].map(() => begin('git-receive-pack', project, start))
  await expect.poll(() => sessionsOf(harness, project)).toHaveLength(2)
  const work = await createGitRepository()
  await work.commit({ files: { a: 'a' } })
  const waiting = work.git('ls-remote', harness.remote('owner', project))
  // Another user is served while the first one waits.
  await work.git('push', '--quiet', harness.remote('developer', project), 'main')
  for (const { request } of held) request.destroy()
  expect(await waiting).toContain('refs/heads/main')
  await work.close()
})

test('who has a hundred sessions waiting is told to try again later', async () => {
  harness = await startGitHarness({ env: { GIT_SESSIONS_PER_USER_MAX: '1' } })
  const project = await harness.project()
  const start = `${command('refs/heads/main', 'report-status')}0000`
  const begun = Array.from({ length: 102 }, () => begin('git-receive-pack', project, start))
  const first = await Promise.race(begun.map(({ answer }) => answer))
  expect([first.status, JSON.parse(first.text)]).toEqual([
    429,
    {
      message: { error: 'You have too many fetches and pushes under way. Try again later.' },
      request_id: expect.any(String),
    },
  ])
  for (const { request } of begun) request.destroy()
  await expect.poll(() => sessionsOf(harness, project)).toEqual([])
})

test('a push of more references than allowed is refused with the reason, whatever the client understands', async () => {
  harness = await startGitHarness()
  const project = await harness.project()
  const commands = (capabilities: string) =>
    command('refs/tags/t', capabilities) +
    Array.from({ length: 20_000 }, (_, number) => command(`refs/tags/t${number}`)).join('')
  const reason = 'A push can change 20000 references at most; push them in several parts'
  for (const [capabilities, status, text] of [
    ['report-status side-band-64k', 200, `\x01${packet(`unpack ${reason}\n`)}0000`],
    ['report-status-v2', 200, `${packet(`unpack ${reason}\n`)}0000`],
    ['delete-refs', 413, reason],
  ] as const) {
    const { request, answer } = begin('git-receive-pack', project, commands(capabilities))
    request.end('0000')
    expect(await answer).toEqual({ status, text: expect.stringContaining(text) })
  }
})

test('git shows its user why a push of too many references is refused', async () => {
  harness = await startGitHarness()
  const project = await harness.project()
  const work = await createGitRepository()
  const head = await work.commit({ files: { a: 'a' } })
  const packed = Array.from({ length: 20_001 }, (_, number) => `${head} refs/tags/t${number}\n`).toSorted()
  await writeFile(`${work.path}/.git/packed-refs`, `# pack-refs with: sorted\n${packed.join('')}`)
  await expect(work.git('push', '--quiet', harness.remote('owner', project), '--tags')).rejects.toThrow(
    'A push can change 20000 references at most',
  )
  await work.close()
}, 60_000)
