import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execaSync } from 'execa'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { repository } from '../docker/test/support/build-stages.js'

let checkout: string
const write = (path: string, text: string) => writeFileSync(join(checkout, path), text)
const read = (path: string) => readFileSync(join(checkout, path), 'utf8')
/** Runs the work of `pnpm release:version` in the checkout, and returns its output. */
const takeChangesets = () => {
  const program = `import { takeChangesets } from './ops/release/take-changesets.mjs'
    console.log(takeChangesets(process.argv[1]))`
  return execaSync('node', ['--input-type=module', '--eval', program, checkout], { cwd: repository }).stdout
}
const versionIn = (path: string) => JSON.parse(read(`${path}/package.json`)).version

beforeAll(() => {
  checkout = mkdtempSync(join(tmpdir(), 'switchyard-changesets-'))
  for (const folder of ['.changeset', 'packages/cli', 'services/worker'])
    mkdirSync(join(checkout, folder), { recursive: true })
  cpSync(join(repository, '.changeset/config.json'), join(checkout, '.changeset/config.json'))
  const manifest = (name: string) => JSON.stringify({ name, version: '0.1.0', private: true }, null, 2)
  write('package.json', `${manifest('switchyard')}\n`)
  write('pnpm-workspace.yaml', 'packages:\n  - packages/*\n  - services/*\n')
  write('pnpm-lock.yaml', '')
  write('packages/cli/package.json', manifest('@switchyard/cli'))
  write('services/worker/package.json', manifest('@switchyard/worker'))
  write('CHANGELOG.md', '# Changelog\n\n## 0.1.0\n\nThe first.\n')
})
afterAll(() => rmSync(checkout, { recursive: true, force: true }))

it('refuses a version without a changeset', () => {
  expect(() => takeChangesets()).toThrow('no changeset says what is new: type "pnpm changeset"')
  expect(versionIn('.')).toBe('0.1.0')
})

it('gives every package the version that the changesets ask for, and moves their texts to the changelog', () => {
  write('.changeset/b.md', '---\n"@switchyard/worker": patch\n---\n\nThe worker is faster.\n')
  write(
    '.changeset/a.md',
    '---\n"@switchyard/cli": minor\n---\n\nThe command asks\nbefore it deletes:\n\n- a saga\n',
  )
  expect(takeChangesets()).toBe('0.2.0')
  expect(['.', 'packages/cli', 'services/worker'].map(versionIn)).toEqual(['0.2.0', '0.2.0', '0.2.0'])
  expect(read('CHANGELOG.md')).toBe(
    '# Changelog\n\n## 0.2.0\n\n- The command asks\n  before it deletes:\n\n  - a saga\n- The worker is faster.\n\n## 0.1.0\n\nThe first.\n',
  )
  expect(readdirSync(join(checkout, '.changeset'))).toEqual(['config.json'])
  expect(readdirSync(join(checkout, 'packages/cli'))).toEqual(['package.json'])
})
