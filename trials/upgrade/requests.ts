import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { execa } from 'execa'
import type { Installation } from './installation.js'
import { uploadLargeObject, uploadSlowly } from './large-objects.js'

const project = 'root%2Fsafe'

export interface Requests {
  failures: string[]
  /** Number of successful requests, by kind. */
  counts: Map<string, number>
  /** Ids of the created broadcast messages. */
  messages: string[]
  stop(): Promise<void>
}

/** Sends all kinds of requests except writes of sagas and commits, repeatedly until it is stopped. */
export async function startRequests(installation: Installation): Promise<Requests> {
  const { failures, counts, messages } = {
    failures: [] as string[],
    counts: new Map<string, number>(),
    messages: [] as string[],
  }
  let isStopped = false
  const repeat = async (what: string, work: () => Promise<unknown>, pauseMs = 20) => {
    while (!isStopped) {
      try {
        await work()
        counts.set(what, (counts.get(what) ?? 0) + 1)
      } catch (error) {
        failures.push(`${what}: ${messageOf(error)}`)
      }
      // All loops share two cores with the services.
      await delay(pauseMs)
    }
  }
  const cookie = await signIn(installation)
  const large = await uploadLargeObject(installation)
  const read = (path: string) => async () => (await ask(installation, path)).arrayBuffer()
  const loops = [
    ...[
      'user',
      'sagas?per_page=5',
      'broadcast_messages',
      'jobqueue/job_stats',
      'sidekiq/compound_metrics',
      `projects/${project}/repository/archive.tar.gz`,
    ].map((path) => repeat(path, read(path))),
    ...['user', 'sagas', 'broadcast_messages', 'jobqueue/queue_metrics'].map((path) =>
      repeat(`${path} by session`, () => ask(installation, path, { headers: { Cookie: cookie } })),
    ),
    repeat('page of the console', () => openPage(installation)),
    repeat(
      'broadcast message',
      async () => {
        const id = await announce(installation)
        messages.push(id)
        await ask(installation, `broadcast_messages/${id}`)
      },
      200,
    ),
    repeat('clone', () => clone(installation), 200),
    repeat('slow download', () => large.download()),
    repeat('slow upload', () => uploadSlowly(installation)),
  ]
  return {
    failures,
    counts,
    messages,
    async stop() {
      isStopped = true
      await Promise.all(loops)
    },
  }
}

const messageOf = (error: unknown) =>
  error instanceof Error ? `${error.message} ${error.cause ?? ''}` : String(error)

interface Question {
  method?: string
  headers?: { [name: string]: string }
  body?: object
}

/** Returns the answer, which must have a status of success. */
async function ask(
  { url, rootToken }: Installation,
  path: string,
  { method = 'GET', headers = { 'PRIVATE-TOKEN': rootToken }, body }: Question = {},
): Promise<Response> {
  const response = await fetch(`${url}/api/v4/${path}`, {
    method,
    headers: { ...headers, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return response
}

/** Begins the session of a browser, and returns its cookie. */
async function signIn(installation: Installation): Promise<string> {
  const { url, rootToken } = installation
  const headers = { Origin: url.replace('127.0.0.1', 'localhost') }
  const begun = await ask(installation, 'session', { method: 'POST', headers, body: { token: rootToken } })
  return begun.headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
}

async function announce(installation: Installation): Promise<string> {
  const body = { message: 'An upgrade is under way' }
  const headers = { 'PRIVATE-TOKEN': installation.rootToken }
  const made = await ask(installation, 'broadcast_messages', { method: 'POST', headers, body })
  return String(((await made.json()) as { id: number }).id)
}

/** Loads a page of the console with the scripts and styles that it names. */
async function openPage({ url }: Installation): Promise<void> {
  const load = async (path: string) => {
    const response = await fetch(url + path, { signal: AbortSignal.timeout(30_000) })
    if (!response.ok) throw new Error(`${path} ${response.status}`)
    return await response.text()
  }
  const page = await load('/console/sagas')
  const files = [...page.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(([, path]) => path ?? '')
  if (files.length === 0) throw new Error('the page names no files')
  await Promise.all(files.map(load))
}

async function clone({ url, rootToken }: Installation): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-clone-'))
  const env = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0' }
  try {
    const remote = `${url.replace('//', `//root:${rootToken}@`)}/root/safe.git`
    await execa('git', ['clone', '--quiet', '--bare', remote, folder], { env, timeout: 60_000 })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
