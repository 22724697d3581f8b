import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCommitBodies } from '../../src/repository/commits/commit-bodies.js'

let bodies: ReturnType<typeof createCommitBodies>
beforeAll(async () => {
  bodies = createCommitBodies()
  // Starts both threads, which takes seconds when they run from sources.
  await Promise.all([parse('first', 2), parse('second', 2)])
})
afterAll(() => bodies?.close())

const mebibyte = 1024 * 1024
const content = randomBytes(48 * 1024).toString('base64')

/** Parses the body of a commit with one file of about `megabytes`. @returns the size of the file in bytes */
async function parse(sender: string, megabytes: number): Promise<number> {
  const times = Math.ceil((megabytes * mebibyte) / content.length)
  const pieces = [
    '{"branch":"b","commit_message":"m","actions":[{"action":"create","file_path":"a","encoding":"base64","content":"',
    ...Array.from({ length: times }, () => content),
    '"}]}',
  ]
  const chunks = pieces.map((piece) => Buffer.from(piece))
  const bytes = chunks.reduce((sum, { length }) => sum + length, 0)
  const fields = await bodies.parse({ chunks, bytes, contentType: 'application/json', sender })
  const [action] = fields.actions as { content: Uint8Array }[]
  return action?.content.length ?? 0
}

test('the body of one sender is parsed while another one of 200 MB is still being parsed', async () => {
  let isOver = false
  const huge = parse('huge', 200).finally(() => {
    isOver = true
  })
  const startedMs = performance.now()
  expect(await parse('small', 2)).toBeGreaterThan(mebibyte)
  expect(isOver).toBe(false)
  // This limit detects waiting for the huge body; alone it takes a few milliseconds.
  expect(performance.now() - startedMs).toBeLessThan(5_000)
  expect(await huge).toBeGreaterThan(140 * mebibyte)
})

test('bodies of one sender, and huge bodies, are parsed one at a time, in the order of their arrival', async () => {
  const ended: string[] = []
  const noted = (name: string, work: Promise<number>) => work.then(() => ended.push(name))
  await Promise.all([
    noted('huge', parse('a', 40)),
    noted('small of the same sender', parse('a', 2)),
    noted('huge of another sender', parse('b', 20)),
    noted('small of a third sender', parse('c', 2)),
  ])
  expect(ended[0]).toBe('small of a third sender')
  expect(ended.indexOf('huge')).toBeLessThan(ended.indexOf('small of the same sender'))
  expect(ended.indexOf('huge')).toBeLessThan(ended.indexOf('huge of another sender'))
})

test('a refused body does not block the next one of its sender', async () => {
  const chunks = [Buffer.from('{"a":"'), Buffer.alloc(2 * mebibyte, 'a')]
  const malformed = { chunks, bytes: 2 * mebibyte + 6, contentType: 'application/json', sender: 'd' }
  const answers = await Promise.allSettled([bodies.parse(malformed), parse('d', 2)])
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})
