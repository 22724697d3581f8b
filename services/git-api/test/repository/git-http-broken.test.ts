import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, sessionsOf, startGitHarness } from '../git-harness.js'

let harness: GitHarness
// The tests of this file do not change it.
let sample: Awaited<ReturnType<typeof pushSample>>

beforeAll(async () => {
  harness = await startGitHarness()
  sample = await pushSample(harness)
})
afterAll(async () => {
  await sample?.work.close()
  await harness?.close()
})

const services = ['git-upload-pack', 'git-receive-pack'] as const

/** Sends a request that git itself would not send. */
async function sendTo(
  service: (typeof services)[number],
  project: Parameters<GitHarness['pathOf']>[0],
  body: Uint8Array | string,
  encoding: Record<string, string> = {},
) {
  const url = new URL(harness.remote('owner', project))
  const response = await fetch(`${url.origin}${url.pathname}/${service}`, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${btoa(`${url.username}:${url.password}`)}`,
      'Content-Type': `application/x-${service}-request`,
      ...encoding,
    },
    body,
  })
  return { status: response.status, text: await response.text() }
}

const refusal = (fields: object) => ({ ...fields, request_id: expect.any(String) })

const gzipped = { 'Content-Encoding': 'gzip' }

test.for(services)(
  '%s answers 400 to invalid or incomplete gzip, and continues to serve',
  async (service) => {
    const { project, work } = sample
    // The body breaks off within a packet, because git might already complain about a whole invalid packet.
    const broken = gzipSync(`fff0want ${'0'.repeat(65_000)}`).subarray(0, 50)
    for (const body of ['notgzip', broken]) {
      const { status, text } = await sendTo(service, project, body, gzipped)
      expect([status, JSON.parse(text)]).toEqual([400, refusal({ error: 'the body could not be read' })])
    }
    const heads = await work.git('ls-remote', harness.remote('owner', project), 'refs/heads/main')
    expect(heads).toContain('refs/heads/main')
  },
)

test.for(services)('%s answers 400 to requests that break its protocol', async (service) => {
  const { project } = sample
  for (const body of ['zzzz', '', '0032want']) {
    const { status, text } = await sendTo(service, project, body)
    const message = `${service} could not read the request`
    expect([status, JSON.parse(text)]).toEqual([400, refusal({ message })])
  }
})

const version2 = { 'Git-Protocol': 'version=2' }

test.for([
  ['000awant x0000', {}],
  ['0014command=foobar\n0000', {}],
  ['0001', version2],
  ['', version2],
  ['0011command=fetch00010011want zzzzzzzz\n0000', version2],
  ['0011command=fetch0011command=fetch0000', version2],
] as const)('git-upload-pack answers 400 to %j', async ([body, headers]) => {
  const { project } = sample
  const { status, text } = await sendTo('git-upload-pack', project, body, headers)
  const message = 'git-upload-pack could not read the request'
  expect([status, JSON.parse(text)]).toEqual([400, refusal({ message })])
})

test('broken gzip is reported to clients of version 2, too, although git itself reports nothing', async () => {
  const { project } = sample
  const broken = gzipSync('0014command=ls-refs\n0000').subarray(0, 15)
  const { status, text } = await sendTo('git-upload-pack', project, broken, { ...gzipped, ...version2 })
  expect([status, JSON.parse(text)]).toEqual([400, refusal({ error: 'the body could not be read' })])
})

test.for(services)('%s answers 415 to an unknown content encoding', async (service) => {
  const { project } = sample
  const { status, text } = await sendTo(service, project, '0000', { 'Content-Encoding': 'br' })
  expect([status, JSON.parse(text)]).toEqual([415, refusal({ error: 'the body could not be read' })])
})

test.for(services)(
  '%s answers a client that sends everything before it reads, plain or compressed',
  async (service) => {
    const { project } = sample
    const zeros = Buffer.alloc(20 * 1024 * 1024)
    expect((await sendTo(service, project, zeros)).status).toBe(400)
    expect((await sendTo(service, project, gzipSync(zeros), gzipped)).status).toBe(400)
  },
)

test('a fetch whose request expands beyond any real one is cut off', async () => {
  const project = await harness.project({ visibility: 'public' })
  const bomb = gzipSync(Buffer.alloc(100 * 1024 * 1024, `0032want ${'1'.repeat(40)}\n`))
  // git answers the first requests while it reads.
  expect((await sendTo('git-upload-pack', project, bomb, gzipped)).text).toContain('not our ref')
  await expect.poll(() => sessionsOf(harness, project)).toEqual([])
})
