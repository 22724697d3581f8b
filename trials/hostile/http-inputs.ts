import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { call, type User } from '../support/api.js'
import type { Tree } from '../support/tree.js'
import { type Input, sideBySide } from './input.js'
import { statusesOf } from './statuses.js'

const commitsOf = ({ project }: User) => `/projects/${project}/repository/commits`
const bomb = `{"branch":"x","commit_message":"m","actions":[${'0,'.repeat(8_000_000)}0]}`

const commit = (branch: string, content = 'x') => ({
  branch,
  start_branch: 'main',
  commit_message: 'm',
  stats: false,
  actions: [{ action: 'create', file_path: 'a', content, encoding: 'base64' }],
})

/**
 * An attack with a pattern that takes for ever with backtracking, and commits to a branch that it is matched
 * against.
 */
const pattern: Input = {
  name: 'commit to a branch against the pattern (*a)×24*b',
  service: 'git-api',
  async run({ tree, attacker }) {
    const name = `${'*a'.repeat(24)}*b`
    await call(tree, attacker.token, 'POST', `/projects/${attacker.project}/protected_branches`, { name })
    const tries = [1, 2, 3].map(() =>
      call(tree, attacker.token, 'POST', commitsOf(attacker), commit('a'.repeat(60), 'eA==')),
    )
    return statusesOf(await Promise.all(tries))
  },
}

const name: Input = {
  name: 'project whose name is 60 digits and a slash',
  service: 'git-api',
  run: async ({ tree, attacker }) =>
    statusesOf([await call(tree, attacker.token, 'POST', '/projects', { name: `${'1'.repeat(60)}/` })]),
}

const coverage: Input = {
  name: 'status with a coverage of 500,000 digits',
  service: 'git-api',
  async run({ tree, attacker }) {
    const body = { state: 'success', coverage: '1'.repeat(500_000) }
    const path = `/projects/${attacker.project}/statuses/main`
    return statusesOf(await Promise.all([1, 2, 3].map(() => call(tree, attacker.token, 'POST', path, body))))
  },
}

const expanding: Input = {
  name: '3 × 15 KB of gzip that are 8 million actions',
  service: 'git-api',
  async run({ tree, attacker }) {
    const body = new Uint8Array(gzipSync(bomb))
    const headers = { 'Content-Encoding': 'gzip' }
    const tries = [1, 2, 3].map(() => call(tree, attacker.token, 'POST', commitsOf(attacker), body, headers))
    return statusesOf(await Promise.all(tries))
  },
}

const zeros: Input = {
  name: '1 MB of gzip that is 1 GB',
  service: 'git-api',
  async run({ tree, attacker }) {
    const body = new Uint8Array(gzipSync(Buffer.alloc(1_000_000_000, ' ')))
    const headers = { 'Content-Encoding': 'gzip' }
    return statusesOf([await call(tree, attacker.token, 'POST', commitsOf(attacker), body, headers)])
  },
}

const nested: Input = {
  name: 'JSON of a million levels',
  service: 'git-api',
  async run({ tree, attacker }) {
    const body = `{"actions":${'['.repeat(1_000_000)}`
    return statusesOf([await call(tree, attacker.token, 'POST', commitsOf(attacker), body)])
  },
}

const fields: Input = {
  name: 'multipart form of 2 million fields',
  service: 'git-api',
  async run({ tree, attacker }) {
    const part = '--b\r\nContent-Disposition: form-data; name="a[]"\r\n\r\n1\r\n'
    const body = `${part.repeat(2_000_000)}--b--\r\n`
    const headers = { 'Content-Type': 'multipart/form-data; boundary=b' }
    return statusesOf([await call(tree, attacker.token, 'POST', commitsOf(attacker), body, headers)])
  },
}

/** Announces a large body, sends one byte, and lets the neighbour commit 1.5 MB meanwhile. */
const stalled: Input = {
  name: '50 stalled uploads of 314 MB; a neighbour commits 1.5 MB',
  service: 'git-api',
  async run({ tree, attacker, neighbour }) {
    const uploads = Array.from({ length: 50 }, () => startUpload(tree, attacker, 314_000_000))
    try {
      await delay(500)
      return `commit in ${await commitMs(tree, neighbour, 1.5)} ms`
    } finally {
      for (const upload of uploads) upload.destroy()
    }
  },
}

const large: Input = {
  name: 'commit of 300 MB in base64; a neighbour commits 2 MB again and again',
  service: 'git-api',
  async run({ tree, attacker, neighbour }) {
    const content = randomBytes(220 * 1024 * 1024).toString('base64')
    const startedMs = performance.now()
    let isOver = false
    const sent = call(tree, attacker.token, 'POST', commitsOf(attacker), commit('huge', content)).finally(
      () => {
        isOver = true
      },
    )
    const times: number[] = []
    while (!isOver) {
      times.push(await commitMs(tree, neighbour, 2))
      await delay(200)
    }
    const { status } = await sent
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
    return `${status} in ${seconds} s; slowest of ${times.length} commits ${Math.max(...times)} ms`
  },
}

const guesses: Input = {
  name: '2,000 random tokens',
  service: 'git-api',
  async run({ tree }) {
    return statusesOf(await sideBySide(2000, (number) => call(tree, `random-${number}`, 'GET', '/user')))
  },
}

/** An attack with packages and attachments, the same number of each. */
const files: Input = {
  name: '10 files of 200 MB at once',
  service: 'git-api',
  async run({ tree, attacker }) {
    const startedMs = performance.now()
    const paths = Array.from({ length: 5 }, (_, number) => `/packages/generic/large/1.${number}.0/large.bin`)
    const sent = await Promise.all([
      ...paths.map((path) => sendFile(tree, attacker, 'PUT', path)),
      ...paths.map(() => sendFile(tree, attacker, 'POST', '/uploads')),
    ])
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
    return `${statusesOf(sent)} in ${seconds} s`
  },
}

export const httpInputs = [
  pattern,
  name,
  coverage,
  expanding,
  zeros,
  nested,
  fields,
  stalled,
  large,
  files,
  guesses,
]

const fileBytes = 200_000_000

/** Sends random bytes on a separate connection, as a form for a POST. */
async function sendFile(tree: Tree, { token, project }: User, method: 'PUT' | 'POST', path: string) {
  const chunk = randomBytes(1_000_000)
  const begin = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n'
  const [before, after] = method === 'POST' ? [begin, '\r\n--b--\r\n'] : ['', '']
  const upload = request({
    host: '127.0.0.1',
    port: tree.httpPort,
    method,
    path: `/api/v4/projects/${project}${path}`,
    headers: {
      'PRIVATE-TOKEN': token,
      'Content-Type': method === 'POST' ? 'multipart/form-data; boundary=b' : 'application/octet-stream',
      'Content-Length': before.length + fileBytes + after.length,
    },
    agent: false,
  })
  const answered = once(upload, 'response') as Promise<[IncomingMessage]>
  await pipeline(async function* () {
    yield before
    for (let sent = 0; sent < fileBytes; sent += chunk.length) yield chunk
    yield after
  }, upload)
  const [response] = await answered
  response.resume()
  return { status: response.statusCode ?? 0 }
}

function startUpload(tree: Tree, { token, project }: User, bytes: number): ClientRequest {
  const headers = { 'PRIVATE-TOKEN': token, 'Content-Type': 'application/json', 'Content-Length': bytes }
  const path = `/api/v4/projects/${project}/repository/commits`
  const upload = request({ host: '127.0.0.1', port: tree.httpPort, method: 'POST', path, headers })
  upload.on('error', () => {})
  upload.write('{')
  return upload
}

let branches = 0

/** Returns milliseconds until a commit of that many megabytes is answered. */
async function commitMs(tree: Tree, user: User, megabytes: number): Promise<number> {
  branches += 1
  const content = randomBytes(megabytes * 0.75 * 1024 * 1024).toString('base64')
  const startedMs = performance.now()
  const { status } = await call(tree, user.token, 'POST', commitsOf(user), commit(`b${branches}`, content))
  if (status !== 201) throw new Error(`the neighbour's commit was answered with ${status}`)
  return Math.round(performance.now() - startedMs)
}
