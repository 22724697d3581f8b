import { randomBytes } from 'node:crypto'
import { type ClientRequest, request as httpRequest } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { gzipSync } from 'node:zlib'
import type { Project } from '@switchyard/db'
import { isolatedGitEnv, type TestGitRepository } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from './git-harness.js'

let harness: GitHarness
let project: Project
let work: TestGitRepository

beforeAll(async () => {
  harness = await startGitHarness()
  ;({ project, work } = await pushSample(harness))
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

const mebibyte = 1024 * 1024
const urlOf = () => `${harness.baseUrl}/api/v4/projects/${project.id}/repository/commits`

let branches = 0
const freshBranch = () => {
  branches += 1
  return { branch: `bodies-${branches}`, start_branch: 'main', commit_message: 'm' }
}

async function post(
  body: NonNullable<RequestInit['body']>,
  headers: Record<string, string> = {},
  who: 'developer' | 'owner' = 'developer',
) {
  const response = await fetch(urlOf(), {
    method: 'POST',
    headers: { 'PRIVATE-TOKEN': harness.tokens[who], ...headers },
    body,
  })
  const { request_id: _, ...answer } = (await response.json()) as Record<string, unknown>
  return [response.status, answer] as const
}

const json = { 'Content-Type': 'application/json' }
const postJson = (body: object, who?: 'developer' | 'owner') => post(JSON.stringify(body), json, who)

const show = async (revision: string) => {
  const { stdout } = await execa('git', ['show', revision], {
    cwd: harness.pathOf(project),
    env: isolatedGitEnv(),
    encoding: 'buffer',
    stripFinalNewline: false,
  })
  return Buffer.from(stdout)
}

test.each([3, 50])('%i stalled uploads delay nobody else', async (count) => {
  const uploads: ClientRequest[] = Array.from({ length: count }, () => {
    const headers = { 'PRIVATE-TOKEN': harness.tokens.developer, ...json, 'Content-Length': 314_000_000 }
    const upload = httpRequest(urlOf(), { method: 'POST', headers }).on('error', () => {})
    upload.write('{')
    return upload
  })
  try {
    const content = randomBytes(1.5 * mebibyte).toString('base64')
    const actions = [{ action: 'create', file_path: 'large.bin', content, encoding: 'base64' }]
    const startedMs = performance.now()
    const [status] = await postJson({ ...freshBranch(), actions }, 'owner')
    expect(status).toBe(201)
    expect(performance.now() - startedMs).toBeLessThan(20_000)
  } finally {
    for (const upload of uploads) upload.destroy()
  }
})

test('a large commit stores exactly the sent bytes, as JSON and in both kinds of form', async () => {
  const binary = randomBytes(2 * mebibyte)
  const lines = 'a "quoted" line with é and 😀\n'.repeat(40_000)
  const actions = [
    { action: 'create', file_path: 'bin', content: binary.toString('base64'), encoding: 'base64' },
    { action: 'create', file_path: 'text', content: lines },
    { action: 'create', file_path: 'empty', content: '' },
    { action: 'create', file_path: 'number', content: 12 },
  ]
  const commits = [freshBranch(), freshBranch(), freshBranch()]
  const pairs = actions.flatMap((action) =>
    Object.entries(action).map(([name, value]) => [`actions[][${name}]`, String(value)] as const),
  )
  const forms = [new URLSearchParams(), new FormData()]
  for (const [index, form] of forms.entries()) {
    for (const [name, value] of [...Object.entries(commits[index + 1] ?? {}), ...pairs])
      form.append(name, value)
  }
  const answers = [await postJson({ ...commits[0], actions })]
  for (const form of forms) answers.push(await post(form))
  expect(answers.map(([status]) => status)).toEqual([201, 201, 201])
  for (const [index, { branch }] of commits.entries()) {
    expect((await show(`${branch}:bin`)).equals(binary)).toBe(true)
    // A multipart form ends its lines with CR LF, as its standard requires.
    const expected = index === 2 ? lines.replaceAll('\n', '\r\n') : lines
    expect((await show(`${branch}:text`)).toString() === expected).toBe(true)
    expect((await show(`${branch}:empty`)).length).toBe(0)
    expect((await show(`${branch}:number`)).toString()).toBe('12')
  }
})

test('the event loop stays responsive while a large commit is read, parsed and stored', async () => {
  const content = randomBytes(48 * mebibyte).toString('base64')
  const body = JSON.stringify({
    ...freshBranch(),
    stats: false,
    actions: [{ action: 'create', file_path: 'huge', content, encoding: 'base64' }],
  })
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  const [status] = await post(body, json)
  delay.disable()
  expect(status).toBe(201)
  expect(delay.max / 1e6).toBeLessThan(5000)
})

test.each([
  ['base64 that is none', { content: `${'A'.repeat(2 * mebibyte)}%`, encoding: 'base64' }, 400],
  ['a path beyond all bounds', { file_path: 'a/'.repeat(5 * mebibyte), content: '' }, 413],
])('%s in a large body is refused', async (_name, fields, status) => {
  const action = { action: 'create', file_path: 'a', ...fields }
  const [answered, answer] = await postJson({ ...freshBranch(), actions: [action] })
  expect([answered, typeof answer.message]).toEqual([status, 'string'])
  if (status === 400)
    expect(answer).toMatchObject({ message: 'content is not valid base64', action_index: 0 })
})

test('malformed and oversized large bodies get the same answers as small ones', async () => {
  const filler = 'a'.repeat(2 * mebibyte)
  expect(await post(`{"a":"${filler}`, json)).toEqual([400, { error: 'the body is not valid JSON' }])
  expect(await post('['.repeat(2 * mebibyte), json)).toEqual([
    400,
    { error: 'the parameters are nested too deeply' },
  ])
  const zeros = `{"branch":"x","commit_message":"m","actions":[${'0,'.repeat(8_000_000)}0]}`
  expect(await post(zeros, json)).toEqual([413, { message: '413 Request Entity Too Large' }])
})

test('a few kilobytes that expand to millions of actions are refused at once', async () => {
  const bomb = gzipSync(`{"branch":"x","commit_message":"m","actions":[${'0,'.repeat(8_000_000)}0]}`)
  expect(bomb.length).toBeLessThan(20_000)
  const before = process.memoryUsage.rss()
  const answers = await Promise.all(
    Array.from({ length: 3 }, () => post(bomb, { ...json, 'Content-Encoding': 'gzip' })),
  )
  expect(answers.map(([status]) => status)).toEqual([413, 413, 413])
  expect((process.memoryUsage.rss() - before) / mebibyte).toBeLessThan(300)
  const many = JSON.stringify({ ...freshBranch(), actions: Array.from({ length: 10_001 }, () => 0) })
  expect(await post(many, json)).toEqual([400, { error: 'actions has more than 10000 items' }])
})

test('a form with different fields for each action commits them all, as the ruby gem sends them', async () => {
  const { branch, ...rest } = freshBranch()
  const query = 'actions[][action]=update&actions[][file_path]=bin.dat&actions[][content]=x'
  const move = 'actions[][action]=move&actions[][file_path]=c&actions[][previous_path]=src/b c.txt'
  const form = new URLSearchParams(`${query}&${move}`)
  for (const [name, value] of Object.entries({ branch, ...rest })) form.append(name, value)
  expect((await post(form))[0]).toBe(201)
  expect((await show(`${branch}:bin.dat`)).toString()).toBe('x')
  expect((await show(`${branch}:c`)).toString()).toContain('six')
})

test('a form without actions creates an empty commit', async () => {
  const form = new URLSearchParams({ ...freshBranch(), allow_empty: 'true' })
  expect(await post(form)).toMatchObject([201, { stats: { total: 0 } }])
  expect(await post(new URLSearchParams(freshBranch()))).toEqual([400, { error: 'actions is missing' }])
})
