import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitFor } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Installation, startInstallation } from './installation/installation.js'
import { network } from './installation/machines.js'

let installation: Installation

beforeAll(async () => {
  installation = await startInstallation()
})
afterAll(() => installation?.stop())

type Name = 'git-api' | 'saga-reporter' | 'admin-broadcast' | 'jobqueue-metrics'

/** Returns the address of one of two replicas of a service, without the gateway. */
const replica = (name: Name, number: number) =>
  `http://127.0.0.1:${installation.replicas[name][number % 2]?.port}`

interface Question {
  method?: string
  body?: object
  headers?: { [name: string]: string }
}

function ask(name: Name, number: number, path: string, question: Question = {}): Promise<Response> {
  const { method = 'GET', body, headers = { 'PRIVATE-TOKEN': installation.rootToken } } = question
  return fetch(`${replica(name, number)}${path}`, {
    method,
    headers: { ...headers, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  })
}

async function answer<T>(...question: Parameters<typeof ask>): Promise<T> {
  const response = await ask(...question)
  const text = await response.text()
  expect(response.ok, `${question[2]} was answered ${response.status}: ${text}`).toBe(true)
  return JSON.parse(text) as T
}

const post = <T>(name: Name, number: number, path: string, body: object) =>
  answer<T>(name, number, path, { method: 'POST', body })

async function createProject(name: string): Promise<string> {
  await post('git-api', 0, '/api/v4/projects', { name })
  return `/api/v4/projects/root%2F${name}`
}

const commitTo = (number: number, project: string, path: string, content = path) =>
  ask('git-api', number, `${project}/repository/commits`, {
    method: 'POST',
    body: {
      branch: 'main',
      commit_message: path,
      actions: [{ action: 'create', file_path: path, content }],
    },
  })

/** Collects the events of a stream. */
async function listen(name: Name, number: number, path: string) {
  const stop = new AbortController()
  const { body, status } = await fetch(`${replica(name, number)}${path}`, {
    headers: { 'PRIVATE-TOKEN': installation.rootToken },
    signal: stop.signal,
  })
  expect(status).toBe(200)
  let text = ''
  const reading = (async () => {
    for await (const chunk of body ?? []) text += Buffer.from(chunk).toString()
  })().catch(() => {})
  return {
    said: () => text,
    async close() {
      stop.abort()
      await reading
    },
  }
}

it('data that one git-api writes is visible in the other at once: commits, lists, files, branches', async () => {
  const project = await createProject('seen')
  for (let number = 0; number < 20; number += 1) {
    const written = await commitTo(number, project, `file-${number}`)
    expect(written.status).toBe(201)
    const { id } = (await written.json()) as { id: string }
    const other = number + 1
    const list = await answer<{ id: string }[]>('git-api', other, `${project}/repository/commits`)
    expect(list[0]?.id).toBe(id)
    const file = await ask('git-api', other, `${project}/repository/files/file-${number}/raw?ref=main`)
    expect(await file.text()).toBe(`file-${number}`)
    await post('git-api', other, `${project}/statuses/${id}`, { state: 'success', name: 'build' })
    const seen = await answer<{ status: string }>('git-api', number, `${project}/repository/commits/${id}`)
    expect(seen.status).toBe('success')
  }
})

it('parallel commits to one branch by both git-api processes are all in its history, or refused as conflicts', async () => {
  const project = await createProject('raced')
  expect((await commitTo(0, project, 'first')).status).toBe(201)
  const answers = await Promise.all(
    Array.from({ length: 60 }, async (_, number) => {
      const response = await commitTo(number, project, `raced-${number}`)
      return { status: response.status, id: ((await response.json()) as { id?: string }).id }
    }),
  )
  expect(answers.filter(({ status }) => ![201, 409].includes(status))).toEqual([])
  const made = answers.flatMap(({ status, id }) => (status === 201 && id ? [id] : []))
  expect(made.length).toBeGreaterThan(30)
  const list = await answer<{ id: string }[]>('git-api', 1, `${project}/repository/commits?per_page=100`)
  expect(made.filter((id) => !list.some((commit) => commit.id === id))).toEqual([])
  expect(list.length).toBe(made.length + 1)
})

it('a push to one git-api is fetched from the other, during commits over REST to both', async () => {
  const project = await createProject('pushed')
  await commitTo(0, project, 'first')
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-clone-'))
  const env = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }
  const git = async (...args: string[]) => (await execa('git', args, { cwd: folder, env })).stdout
  const remote = (number: number) =>
    replica('git-api', number).replace('//', `//root:${installation.rootToken}@`).concat('/root/pushed.git')
  try {
    await git('clone', '--quiet', remote(0), '.')
    const rest = Array.from({ length: 10 }, (_, number) => commitTo(number, project, `rest-${number}`))
    for (let number = 0; number < 10; number += 1) {
      const who = ['-c', 'user.name=e2e', '-c', 'user.email=e2e@example.com']
      await git(...who, 'commit', '--quiet', '--allow-empty', '-m', `pushed ${number}`)
      await git('push', '--quiet', remote(number), `HEAD:side-${number}`)
      const seen = await git('ls-remote', remote(number + 1), `side-${number}`)
      expect(seen.slice(0, 40)).toBe(await git('rev-parse', 'HEAD'))
    }
    expect((await Promise.all(rest)).map(({ status }) => status)).toEqual(Array(10).fill(201))
    await git('fetch', '--quiet', remote(1))
    await git('fsck', '--full', '--strict')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

it('an object of Git LFS that was uploaded to one git-api is downloaded from the other', async () => {
  await createProject('large')
  const content = randomBytes(300_000)
  const oid = createHash('sha256').update(content).digest('hex')
  const headers = {
    Authorization: `Basic ${Buffer.from(`root:${installation.rootToken}`).toString('base64')}`,
  }
  const path = `/root/large.git/gitlab-lfs/objects/${oid}`
  const taken = await fetch(`${replica('git-api', 0)}${path}/${content.length}`, {
    method: 'PUT',
    headers: { ...headers, 'Content-Type': 'application/octet-stream' },
    body: content,
  })
  expect(taken.status).toBe(200)
  const given = await fetch(`${replica('git-api', 1)}${path}`, { headers })
  expect(Buffer.compare(Buffer.from(await given.arrayBuffer()), content)).toBe(0)
})

it('a token that is revoked at one replica is refused by all within a second', async () => {
  const { id, token } = await post<{ id: number; token: string }>(
    'git-api',
    0,
    '/api/v4/users/1/personal_access_tokens',
    { name: 'short', scopes: ['api'] },
  )
  const headers = { 'PRIVATE-TOKEN': token }
  const everywhere = [
    ['git-api', '/api/v4/user'],
    ['saga-reporter', '/api/v4/sagas'],
    ['admin-broadcast', '/api/v4/broadcast_messages/1'],
    ['jobqueue-metrics', '/api/v4/jobqueue/job_stats'],
  ] as const
  const statuses = () =>
    Promise.all(
      everywhere.flatMap(([name, path]) =>
        [0, 1].map(async (number) => (await ask(name, number, path, { headers })).status),
      ),
    )
  expect(await statuses()).not.toContain(401)
  await ask('git-api', 0, `/api/v4/personal_access_tokens/${id}`, { method: 'DELETE' })
  await waitFor(async () => (await statuses()).every((status) => status === 401), {
    what: 'the token to be refused',
    timeoutMs: 1500,
    intervalMs: 100,
  })
})

it('a session that began at one replica is valid at the others, and ends at all of them at once', async () => {
  const origin = installation.url.replace('127.0.0.1', 'localhost')
  const begun = await ask('git-api', 0, '/api/v4/session', {
    method: 'POST',
    headers: { Origin: origin },
    body: { token: installation.rootToken },
  })
  expect(begun.status).toBe(201)
  const Cookie = begun.headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
  const status = async (name: Name, number: number, path: string) =>
    (await ask(name, number, path, { headers: { Cookie } })).status
  expect(await status('git-api', 1, '/api/v4/user')).toBe(200)
  expect(await status('saga-reporter', 1, '/api/v4/sagas')).toBe(200)
  const ended = await ask('git-api', 1, '/api/v4/session', {
    method: 'DELETE',
    headers: { Cookie, Origin: origin },
  })
  expect(ended.status).toBe(204)
  expect(await status('git-api', 0, '/api/v4/user')).toBe(401)
  expect(await status('saga-reporter', 0, '/api/v4/sagas')).toBe(401)
})

it('a stream of one saga-reporter sends events that the other received, and both list them', async () => {
  const stream = await listen('saga-reporter', 0, '/api/v4/sagas/stream')
  const event = { operation: 'SagaStarted', saga_id: 'over-there', event_id: 'e1', service_name: 'e2e' }
  await post('saga-reporter', 1, '/api/v4/saga_events', { events: [event] })
  await waitFor(() => stream.said().includes('over-there'), {
    what: 'the event in the stream',
    timeoutMs: 5000,
  })
  await stream.close()
  const again = await post<{ results: { outcome: string }[] }>('saga-reporter', 0, '/api/v4/saga_events', {
    events: [event],
  })
  expect(again.results[0]?.outcome).toBe('duplicate')
})

it('a stream of one admin-broadcast sends a message that the other received, and its list has it', async () => {
  const stream = await listen('admin-broadcast', 0, '/api/v4/broadcast_messages/stream')
  await post('admin-broadcast', 1, '/api/v4/broadcast_messages', { message: 'Said over there' })
  await waitFor(() => stream.said().includes('Said over there'), {
    what: 'the message in the stream',
    timeoutMs: 5000,
  })
  await stream.close()
  const list = await answer<{ message: string }[]>('admin-broadcast', 0, '/api/v4/broadcast_messages')
  expect(list.map(({ message }) => message)).toContain('Said over there')
})

it('three workers send each webhook once, and both replicas of jobqueue-metrics count the same jobs', async () => {
  const project = await createProject('hooked')
  const came: string[] = []
  const receiver = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      came.push((JSON.parse(text) as { after: string }).after)
      response.end()
    })
  }).listen(0, network.own)
  await once(receiver, 'listening')
  try {
    const url = `http://${network.own}:${(receiver.address() as AddressInfo).port}/`
    await post('git-api', 1, `${project}/hooks`, { url, push_events: true })
    const ids: string[] = []
    for (let number = 0; number < 20; number += 1) {
      const made = await commitTo(number, project, `file-${number}`)
      ids.push(((await made.json()) as { id: string }).id)
    }
    await waitFor(() => came.length >= ids.length, { what: 'every webhook' })
    expect([...came].sort()).toEqual([...ids].sort())
    const counted = (number: number) =>
      answer<{ processed: number }>('jobqueue-metrics', number, '/api/v4/jobqueue/job_stats')
    await expect
      .poll(async () =>
        [await counted(0), await counted(1)].every(
          ({ processed }, _, all) => processed === all[0]?.processed,
        ),
      )
      .toBe(true)
  } finally {
    receiver.close()
  }
})
