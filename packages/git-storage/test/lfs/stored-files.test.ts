import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { notFound, tooLarge } from '@switchyard/domain'
import { waitFor } from '@switchyard/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findLfsObject, storeFile } from '../../src/lfs/lfs-objects.js'

let path: string
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'switchyard-stored-files-'))
})
afterEach(() => rm(path, { recursive: true, force: true }))

const admit = async () => {}
const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

async function* inChunks(bytes: Buffer, size = 1000): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const filesIn = async (folder: string) =>
  (await readdir(join(path, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)

test.each([0, 1, 12_345])('a file of %i bytes is stored by its SHA-256', async (size) => {
  const bytes = randomBytes(size)
  const stored = await storeFile({ path }, inChunks(bytes), { bytesMax: 12_345, admit })
  expect(stored).toEqual({ oid: hashOf(bytes), size })
  expect(await findLfsObject({ path }, stored.oid)).toBe(size)
  const [first, second] = [stored.oid.slice(0, 2), stored.oid.slice(2, 4)]
  expect((await readFile(join(path, 'lfs/objects', first, second, stored.oid))).equals(bytes)).toBe(true)
  expect(await filesIn('lfs/tmp')).toEqual([])
})

test('the same file twice is one object', async () => {
  const bytes = randomBytes(5000)
  for (let time = 0; time < 2; time += 1)
    await storeFile({ path }, inChunks(bytes), { bytesMax: 5000, admit })
  expect(await filesIn('lfs/objects')).toEqual([hashOf(bytes)])
})

test('a file that is too large, refused or incomplete leaves nothing', async () => {
  const bytes = randomBytes(5000)
  await expect(storeFile({ path }, inChunks(bytes), { bytesMax: 4999, admit })).rejects.toThrow(
    'A file can have 4999 bytes at most',
  )
  const refuse = async () => {
    throw tooLarge('no room')
  }
  await expect(storeFile({ path }, inChunks(bytes), { bytesMax: 5000, admit: refuse })).rejects.toThrow(
    'no room',
  )
  async function* broken() {
    yield bytes
    throw new Error('the client went away')
  }
  await expect(storeFile({ path }, broken(), { bytesMax: 9999, admit })).rejects.toThrow('went away')
  expect(await filesIn('lfs')).toEqual([])
})

test('a file for a deleted repository is refused, and creates no folder', async () => {
  await rm(path, { recursive: true })
  await expect(storeFile({ path }, inChunks(Buffer.from('x')), { bytesMax: 9, admit })).rejects.toEqual(
    notFound('Project'),
  )
  await expect(readdir(path)).rejects.toThrow('ENOENT')
})

test('a process that is killed in the middle of a file leaves no object', async () => {
  const module = JSON.stringify(new URL('../../src/lfs/lfs-objects.ts', import.meta.url).href)
  const program = `const { storeFile } = await import(${module})
    async function* endless() { for (;;) { yield Buffer.alloc(65536, 7); await new Promise((go) => setTimeout(go, 5)) } }
    await storeFile({ path: ${JSON.stringify(path)} }, endless(), { bytesMax: 2 ** 40, admit: async () => {} })`
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program], {
    stdio: 'inherit',
  })
  await waitFor(async () => (await readdir(join(path, 'lfs/tmp')).catch(() => [])).length > 0)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(await readdir(join(path, 'lfs'))).toEqual(['tmp'])
})
