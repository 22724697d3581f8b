import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeFolder } from './make-folder.js'

let scratch: string
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'switchyard-folder-'))
})
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

it('creates a folder and those above it, readable by their owner only, and keeps an existing one', () => {
  const path = join(scratch, 'a', 'b', 'c')
  makeFolder(path)
  makeFolder(path)
  expect(statSync(path).mode & 0o777).toBe(0o700)
  expect(statSync(join(scratch, 'a')).mode & 0o777).toBe(0o700)
})

it('refuses a path through a file', () => {
  const file = join(scratch, 'file')
  writeFileSync(file, '')
  expect(() => makeFolder(file)).toThrow('EEXIST')
  expect(() => makeFolder(join(file, 'below'))).toThrow('ENOTDIR')
})

it.runIf(process.platform === 'linux')('refuses a path on a file system without folders', () => {
  expect(() => makeFolder('/proc/nope/below')).toThrow(/ENOENT|EACCES|EPERM/)
})
