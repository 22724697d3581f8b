import { resolve } from 'node:path'
import { execa } from 'execa'
import { describe, expect, test } from 'vitest'

const commands = [
  ['saga:rebuild', 'rebuild/main.ts'],
  ['saga:move-tenant', 'cells/move-tenant-main.ts'],
] as const

/** Runs a command from its sources, without a database: a command line is read before anything else. */
const run = (file: string, ...args: string[]) => {
  const path = resolve(import.meta.dirname, '../src', file)
  const options = ['--import', 'tsx', '--conditions=@switchyard/source', path, ...args]
  return execa(process.execPath, options, { env: { DATABASE_URL: '' }, reject: false })
}

describe.each(commands)('the command line of %s', (name, file) => {
  test('is explained by --help', async () => {
    const { exitCode, stdout, stderr } = await run(file, '--help')
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`Usage: npm run ${name} `)
  })

  test('with an unknown option is refused in one sentence that names it', async () => {
    const { exitCode, stdout, stderr } = await run(file, '--hepl')
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^✗ Unknown option '--hepl'\n/)
    expect(stderr.split('\n')[1]).toContain(`Usage: npm run ${name} `)
  })
})

test.each([
  [[], 'TENANT is missing'],
  [['acme'], 'CELL is missing, or is no name of a cell'],
  [['acme', 'A b'], 'CELL is missing, or is no name of a cell'],
  [['acme', 'second', 'third'], "'third' is one argument too many"],
])('saga:move-tenant %j is refused with what is wrong', async (args, problem) => {
  const { exitCode, stderr } = await run('cells/move-tenant-main.ts', ...args)
  expect([exitCode, stderr.split('\n')[0]]).toEqual([2, `✗ ${problem}`])
})
