import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { waitFor } from '@switchyard/testing'
import { afterEach, expect, test } from 'vitest'
import { objectChild, updateRefChild } from '../../src/processes/child-kinds.js'
import { ChildPool, type ChildPoolOptions } from '../../src/processes/child-pool.js'
import type { Answer } from '../../src/processes/git-child.js'
import { type BareRepository, createBareRepository, historyStream, seededRandom } from '../random-history.js'

const opened: { close: () => unknown }[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

function poolOf(options: Partial<ChildPoolOptions> = {}): ChildPool {
  const pool = new ChildPool({ processBytesMax: 256 * 1024 * 1024, ...options })
  opened.push(pool)
  return pool
}

async function filledRepository(commits = 15): Promise<BareRepository> {
  const repository = await createBareRepository()
  opened.push(repository)
  const stream = historyStream(seededRandom(commits), { commits, merges: 0.2, skewSeconds: 10 })
  await repository.feed(stream, 'fast-import', '--quiet', '--done')
  return repository
}

const limits = { answerBytesMax: 1024 * 1024, timeoutMs: 20_000 }
const idsOf = async ({ git }: BareRepository) => (await git('rev-list', '--all')).split('\n')
const question = (id: string) => ({ ...limits, input: `contents ${id}\n` })
/** Returns the text of an object from an answer. */
const contentOf = ({ bytes }: Answer) => bytes.toString().slice(bytes.indexOf('\n') + 1, -1)

/** Lists the processes of git below this one that work on a repository. */
function childrenOn(path: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => commandLineOf(pid).includes(`--git-dir=${path}\0`))
}

function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

test('answers are complete and belong to their questions, however many are asked at once', async () => {
  const repository = await filledRepository(40)
  const pool = poolOf()
  const ids = await idsOf(repository)
  const answers = await Promise.all(ids.map((id) => pool.ask(repository, objectChild, question(id))))
  expect(pool.size).toBeLessThanOrEqual(4)
  for (const [index, id] of ids.entries()) {
    const answer = answers[index] as Answer
    expect(answer.bytes.toString()).toContain(id)
    if (index % 8 === 0)
      expect(contentOf(answer).trim()).toBe((await repository.git('cat-file', '-p', id)).trim())
  }
})

test('content that looks like the end of an answer does not end it', async () => {
  const repository = await filledRepository()
  const tricky = 'missing\n..x missing\nstart: ok\nabort: ok\n'
  const id = (await repository.feed(tricky, 'hash-object', '-w', '--stdin')).trim()
  const { bytes } = await poolOf().ask(repository, objectChild, question(id))
  expect(bytes.toString()).toBe(`${id} blob ${tricky.length}\n${tricky}\n`)
})

test('a question that its client abandoned neither stops nor changes the answers of others', async () => {
  const repository = await filledRepository(40)
  const pool = poolOf({ perKindMax: 1 })
  const ids = await idsOf(repository)
  const gone = new AbortController()
  const asked = ids.map((id, index) =>
    pool.ask(index % 2 ? { ...repository, signal: gone.signal } : repository, objectChild, question(id)).then(
      ({ bytes }) => bytes.toString().slice(0, 40),
      (error: Error) => error.message,
    ),
  )
  gone.abort(new Error('gone'))
  const expected = ids.map((id, index) => (index % 2 ? 'gone' : id))
  expect(await Promise.all(asked)).toEqual(expected)
  const behind = pool.ask(repository, objectChild, question('x'))
  await expect(pool.ask({ ...repository, signal: gone.signal }, objectChild, question('x'))).rejects.toThrow(
    'gone',
  )
  await behind
})

test('a killed child is replaced, and its question is asked again', async () => {
  const repository = await filledRepository()
  const pool = poolOf()
  const [id = ''] = await idsOf(repository)
  const first = await pool.ask(repository, objectChild, question(id))
  for (const pid of childrenOn(repository.path)) process.kill(pid, 'SIGKILL')
  const second = await pool.ask(repository, objectChild, question(id))
  expect(second.bytes.toString()).toBe(first.bytes.toString())
})

test('many repositories share few children', async () => {
  const repositories = await Promise.all(Array.from({ length: 7 }, () => filledRepository(3)))
  const pool = poolOf({ totalMax: 3 })
  const sizes: number[] = []
  const rounds = [...repositories, ...repositories, ...repositories].map(async (repository) => {
    const [id = ''] = await idsOf(repository)
    const { bytes } = await pool.ask(repository, objectChild, question(id))
    sizes.push(pool.size)
    expect(bytes.toString()).toContain(id)
  })
  await Promise.all(rounds)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(3)
})

test('children are replaced after their share of answers, and end when idle', async () => {
  const repository = await filledRepository()
  const pool = poolOf({ answersMax: 2, perKindMax: 1 })
  const [id = ''] = await idsOf(repository)
  const pids = new Set<number>()
  for (let round = 0; round < 6; round += 1) {
    await pool.ask(repository, objectChild, question(id))
    for (const pid of childrenOn(repository.path)) pids.add(pid)
  }
  expect(pids.size).toBeGreaterThanOrEqual(2)
  pool.closeRepository(repository.path)
  await waitFor(() => childrenOn(repository.path).length === 0 && pool.size === 0, {
    what: 'children to end',
  })
})

test('an answer over its limit is cut, and the next answer is complete', async () => {
  const repository = await filledRepository()
  const pool = poolOf({ perKindMax: 1 })
  const large = (await repository.feed('x'.repeat(3_000_000), 'hash-object', '-w', '--stdin')).trim()
  const cut = await pool.ask(repository, objectChild, { ...limits, input: `contents ${large}\n` })
  expect(cut).toMatchObject({ truncated: true })
  expect(cut.bytes).toHaveLength(limits.answerBytesMax)
  const small = await pool.ask(repository, objectChild, { ...limits, input: `info ${large}\n` })
  expect(small.bytes.toString()).toBe(`${large} blob 3000000\n`)
})

test('an answer that takes too long is abandoned', async () => {
  const repository = await filledRepository()
  const pool = poolOf()
  const [id = ''] = await idsOf(repository)
  await pool.ask(repository, objectChild, question(id))
  for (const pid of childrenOn(repository.path)) process.kill(pid, 'SIGSTOP')
  const impatient = { ...question(id), timeoutMs: 50 }
  await expect(pool.ask(repository, objectChild, impatient)).rejects.toMatchObject({
    kind: 'unavailable',
  })
  await expect(pool.ask(repository, objectChild, question(id))).resolves.toMatchObject({
    truncated: false,
  })
})

test('a missing repository is not-found, a refused update has its reason, and a closed pool answers nothing', async () => {
  const repository = await filledRepository()
  const pool = poolOf()
  await expect(pool.ask({ path: '/nowhere' }, objectChild, question('info x'))).rejects.toMatchObject({
    kind: 'not-found',
  })
  const [id = ''] = await idsOf(repository)
  const update = (from: string) => ({
    ...limits,
    input: `start\0update refs/heads/new\0${id}\0${from}\0commit\0`,
  })
  const zero = '0'.repeat(40)
  const { bytes } = await pool.ask(repository, updateRefChild, update(zero))
  expect(bytes.toString()).toBe('start: ok\ncommit: ok\n')
  expect(await repository.git('rev-parse', 'new')).toBe(id)
  const refused = pool.ask(repository, updateRefChild, update(zero))
  await expect(refused).rejects.toMatchObject({
    cause: { stderr: expect.stringContaining('reference already exists') },
  })
  pool.close()
  await expect(pool.ask(repository, objectChild, question('info x'))).rejects.toMatchObject({
    kind: 'unavailable',
  })
  await waitFor(() => childrenOn(repository.path).length === 0, { what: 'children to end' })
  await promisify(execFile)('git', [`--git-dir=${repository.path}`, 'fsck', '--strict'])
})
