import { cpSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { repository } from '../docker/test/support/build-stages.js'

// Scripts without types.
const { partStamps, installStamp } = await import(join(repository, 'ops/setup/bootstrap-stamps.mjs'))
const { listParts } = await import(join(repository, 'ops/setup/setup-parts.mjs'))

let folder: string
let checkout: string
const source = 'packages/one/src/index.ts'
const stampOf = (root: string) => partStamps(root)({ sources: ['packages/one'] })
const stampOfOther = (root: string) => partStamps(root)({ sources: ['packages/other'] })

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchyard-stamps-'))
  checkout = join(folder, 'checkout')
  for (const path of ['packages/one/src', 'packages/other', 'services'])
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
  expect(stampOf(copy)).toBe(stampOf(checkout))
  expect(installStamp(copy)).toBe(installStamp(checkout))
})

it('a changed source of the same length causes a new build, but only of the parts with that source', () => {
  const before = stampOf(checkout)
  const other = stampOfOther(checkout)
  writeFileSync(join(checkout, source), 'export []\n')
  expect(stampOf(checkout)).not.toBe(before)
  expect(stampOfOther(checkout)).toBe(other)
  expect(installStamp(checkout)).toBe(installStamp(checkout))
})

it('a change of a source affects the parts that contain it, and nothing else', () => {
  const parts = listParts(repository) as Map<string, { sources: Iterable<string> }>
  const concerned = (source: string) =>
    [...parts].filter(([, { sources }]) => [...sources].includes(source)).map(([name]) => name)
  expect(concerned('packages/git-storage')).toEqual([
    'packages/backup',
    'services/git-api',
    'services/worker',
  ])
  expect(concerned('services/git-api')).toEqual(['services/git-api'])
  expect(concerned('packages/saga-client')).toEqual(['clients'])
  expect(concerned('services/console/web')).toEqual(['pages'])
})
