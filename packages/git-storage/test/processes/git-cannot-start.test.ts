import { basename, dirname, join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { execa } from 'execa'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { advertiseRefs, serveFetch } from '../../src/git-http/smart-http.js'
import { objectChild } from '../../src/processes/child-kinds.js'
import { ChildPool } from '../../src/processes/child-pool.js'
import { GitSlots } from '../../src/processes/git-slots.js'
import { streamOutput } from '../../src/processes/stream-output.js'
import { type BareRepository, createBareRepository } from '../random-history.js'

let repository: BareRepository
const path = process.env.PATH

beforeAll(async () => {
  repository = await createBareRepository()
})
afterEach(() => {
  process.env.PATH = path
})
afterAll(() => repository?.close())

const unavailable = { kind: 'unavailable', cause: { code: 'ENOENT' } }
const session = () => ({
  path: repository.path,
  protocol: 'version=2',
  idleMs: 1_000,
  signal: new AbortController().signal,
})
const output = () => new PassThrough().resume()

test('when git cannot be started, callers are refused as unavailable, and the process continues', async () => {
  const slots = new GitSlots()
  const context = { path: repository.path, engine: { slots } }
  const pool = new ChildPool(slots)
  process.env.PATH = '/nonexistent'
  await expect(streamOutput(context, { command: 'archive' }, output())).rejects.toMatchObject(unavailable)
  await expect(advertiseRefs(session(), 'git-upload-pack', output())).rejects.toMatchObject(unavailable)
  await expect(serveFetch(session(), Readable.from(['0000']), output())).rejects.toMatchObject(unavailable)
  const question = { input: 'info HEAD\n', answerBytesMax: 1_000, timeoutMs: 10_000 }
  await expect(pool.ask(context, objectChild, question)).rejects.toMatchObject(unavailable)
  pool.close()
})

test('with too many open files, callers are refused as unavailable, and served once files are closed', async () => {
  const script = join(import.meta.dirname, 'fixtures', 'with-too-many-files.ts')
  const node = [process.execPath, '--import', 'tsx', script]
  const given = [dirname(repository.path), basename(repository.path)]
  const { stdout } = await execa('sh', ['-c', 'ulimit -n 256; exec "$0" "$@"', ...node, ...given])
  expect(JSON.parse(stdout)).toEqual({
    refusals: ['unavailable', 'unavailable', 'unavailable'],
    served: [true, true, true],
  })
})
