import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { bundled } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { lfsFileOf, mirrorOf } from '../src/manifest.js'
import {
  addProject,
  backUp,
  createInstallation,
  type FilledProject,
  type Installation,
} from './installation.js'

let source: Installation
let project: FilledProject
let folder: string

beforeAll(async () => {
  source = await createInstallation()
  project = await addProject(source)
  folder = await mkdtemp(join(tmpdir(), 'switchyard-backup-'))
  await backUp(source, folder)
})
afterAll(async () => {
  await project.work.close()
  await source.close()
  await rm(folder, { recursive: true, force: true })
})

/** Runs the program of the image, and returns its exit code and its output. */
const runProgram = async (...args: string[]) =>
  promisify(execFile)(process.execPath, [await bundled('packages/backup'), ...args]).then(
    ({ stdout }) => ({ code: 0, text: stdout }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, text: stderr }),
  )

const check = (checked: string) => runProgram('check', checked)

async function damage(file: string): Promise<void> {
  const bytes = await readFile(file)
  bytes.writeUInt8(bytes.readUInt8(30) ^ 1, 30)
  await chmod(file, 0o644)
  await writeFile(file, bytes)
}

it('a check describes the content of a backup', async () => {
  const text = expect.stringMatching(/is undamaged and has .* rows, 1 repositories, 1 LFS objects\n$/)
  expect(await check(folder)).toEqual({ code: 0, text })
})

it('a check finds a damaged LFS object, which the next backup replaces once it is removed', async () => {
  const kept = lfsFileOf(folder, project.oid)
  await damage(kept)
  await backUp(source, folder)
  expect(await check(folder)).toEqual({
    code: 1,
    text: expect.stringContaining(
      `The backup is damaged: ${kept} has another checksum. Remove that path and back up again`,
    ),
  })
  await rm(kept)
  await backUp(source, folder)
  expect(await check(folder)).toMatchObject({ code: 0 })
})

it('a check finds a damaged mirror, which the next backup replaces once it is removed', async () => {
  const mirror = mirrorOf(folder, project.diskPath)
  const packs = join(mirror, 'objects', 'pack')
  await damage(join(packs, (await readdir(packs)).find((name) => name.endsWith('.pack')) ?? ''))
  await backUp(source, folder)
  const text = expect.stringContaining(`The backup is damaged: ${mirror}`)
  expect(await check(folder)).toEqual({ code: 1, text })
  await rm(mirror, { recursive: true })
  await backUp(source, folder)
  expect(await check(folder)).toMatchObject({ code: 0 })
})

it('a check finds any change of the manifest', async () => {
  const file = join(folder, 'manifest.json')
  const written = await readFile(file, 'utf8')
  await writeFile(file, written.replace(/"cut": "\d{4}/, '"cut": "1999'))
  const text = expect.stringContaining('manifest.json is damaged: it has another checksum')
  expect(await check(folder)).toEqual({ code: 1, text })
  await writeFile(file, written.replace(/"checksum": "[0-9a-f]+"/, '"checksum": "none"'))
  expect(await check(folder)).toEqual({ code: 1, text })
  await writeFile(file, written)
  expect(await check(folder)).toMatchObject({ code: 0 })
})

it('a check reads a backup whose manifest has no checksum yet', async () => {
  const file = join(folder, 'manifest.json')
  const { checksum, ...content } = JSON.parse(await readFile(file, 'utf8'))
  expect(checksum).toMatch(/^[0-9a-f]{64}$/)
  await writeFile(file, JSON.stringify({ ...content, format: 1 }))
  expect(await check(folder)).toMatchObject({ code: 0 })
})

it.each([
  [['check', '--chekc'], "✗ Unknown option '--chekc'\nUsage: "],
  [['bakcup', '/tmp/x'], 'Usage: '],
  [['check'], 'Usage: '],
  [['check', 'one', 'two'], 'Usage: '],
  [['restore', '--as', 'alice/app', 'one'], 'Usage: '],
  [['backup', '--project', 'alice/app', 'one'], 'Usage: '],
])('the program refuses %j before it does anything', async (args, text) => {
  expect(await runProgram(...args)).toEqual({ code: 2, text: expect.stringContaining(text) })
})

it('a check of a folder without a backup reports that', async () => {
  const text = expect.stringContaining('has no manifest.json: it is no complete backup')
  expect(await check(join(folder, 'lfs'))).toEqual({ code: 1, text })
})
