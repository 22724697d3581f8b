import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { findNoSmallDisk, mountSmallDisk } from '@switchyard/testing'
import { execa } from 'execa'
import { afterEach, beforeEach, expect, test } from 'vitest'

const script = resolve(import.meta.dirname, '../../../ops/storage-check.mjs')
const reason = await findNoSmallDisk()
if (reason) console.error(`SKIPPED: the check of an overlay is not tried, because ${reason}`)

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'switchyard-mounts-'))
  for (const name of ['one', 'two']) await mkdir(join(folder, name))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const check = (...args: string[]) =>
  execa(process.execPath, [script, '--seconds', '5', ...args], {
    reject: false,
    all: true,
    cwd: folder,
    env: { INIT_CWD: folder },
  })

test('one folder is safe, and the check leaves nothing in it', async () => {
  const { exitCode, all } = await check('one', 'one')
  expect(all).toMatch(/safe: none of [1-9]\d* acknowledged commits is lost/)
  expect(exitCode).toBe(0)
  expect(await readdir(join(folder, 'one'))).toEqual([])
})

test('two folders with different files are not safe', async () => {
  const { exitCode, all } = await check('one', 'two')
  expect(all).toContain(
    `not safe: ${join(folder, 'two')} does not show what is made in ${join(folder, 'one')}`,
  )
  expect(exitCode).toBe(1)
  expect([...(await readdir(join(folder, 'one'))), ...(await readdir(join(folder, 'two')))]).toEqual([])
})

test.skipIf(reason)(
  'a mount that shows the files of the other, but not its changes, is not safe',
  async () => {
    const disk = await mountSmallDisk(64 * 1024 ** 2)
    try {
      const [upper, work] = [join(disk.path, 'upper'), join(disk.path, 'work')]
      for (const path of [upper, work]) await mkdir(path)
      const options = `lowerdir=${join(folder, 'one')},upperdir=${upper},workdir=${work}`
      await execa('mount', ['-t', 'overlay', 'overlay', '-o', options, join(folder, 'two')])
      const { exitCode, all } = await check('one', 'two')
      await execa('umount', [join(folder, 'two')])
      expect(all).toMatch(/not safe: \d+ of \d+ acknowledged commits are lost/)
      expect(all).toMatch(/not safe: \d+ of \d+ reads showed an older file/)
      expect(all).toMatch(/not safe: \d+ of \d+ files were created by both processes/)
      expect(exitCode).toBe(1)
    } finally {
      await disk.close()
    }
  },
)

test.each([
  ['one folder only', ['one'], 'FOLDER is missing'],
  ['a folder that is missing', ['one', 'none'], 'none is no folder'],
  ['an unknown option', ['--second', '5', 'one', 'two'], "✗ Unknown option '--second'\nUsage: "],
  ['too short a time', ['--seconds', '1', 'one', 'two'], '--seconds 1 is not 5 to 600'],
])('%s is refused, and nothing is checked', async (_what, args, text) => {
  const { exitCode, all } = await check(...args)
  expect([exitCode, all]).toEqual([2, expect.stringContaining(text)])
})

test('--help explains the command, and nothing is checked', async () => {
  const { exitCode, all } = await check('--help', 'one', 'two')
  expect([exitCode, all]).toEqual([0, expect.stringMatching(/^Usage: npm run storage:check /)])
})
