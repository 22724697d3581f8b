import { cpSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { repository } from './support/build-stages.js'

// A script without types.
const { buildStamp, installStamp } = await import(join(repository, 'scripts/bootstrap-stamps.mjs'))

let folder: string
let checkout: string
const source = 'packages/one/src/index.ts'

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchyard-stamps-'))
  checkout = join(folder, 'checkout')
  for (const path of ['packages/one/src', 'services', 'proto'])
    mkdirSync(join(checkout, path), { recursive: true })
  writeFileSync(join(checkout, 'package.json'), '{}')
  writeFileSync(join(checkout, 'packages/one/package.json'), '{}')
  writeFileSync(join(checkout, source), 'export {}\n')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('a copy of a built checkout at another path, with other times, needs no second build', () => {
  const copy = join(folder, 'a copy')
  cpSync(checkout, copy, { recursive: true })
  utimesSync(join(copy, source), 1, 1)
  expect(buildStamp(copy)).toBe(buildStamp(checkout))
  expect(installStamp(copy)).toBe(installStamp(checkout))
})

it('a source with another content of the same length is built again', () => {
  const before = buildStamp(checkout)
  writeFileSync(join(checkout, source), 'export []\n')
  expect(buildStamp(checkout)).not.toBe(before)
  expect(installStamp(checkout)).toBe(installStamp(checkout))
})
