import { bundled } from '@switchyard/testing'
import { execa } from 'execa'
import { describe, expect, test } from 'vitest'

/** Runs the command without a database, because it reads its arguments first. */
const run = async (argument: string) => {
  const command = [await bundled('services/saga-reporter', 'rebuild'), argument]
  return execa(process.execPath, command, { env: { DATABASE_URL: '' }, reject: false })
}

describe('the command line of saga:rebuild', () => {
  test('is explained by --help', async () => {
    const { exitCode, stdout, stderr } = await run('--help')
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toContain('Usage: npm run saga:rebuild ')
  })

  test('with an unknown option is refused in one sentence that names it', async () => {
    const { exitCode, stdout, stderr } = await run('--hepl')
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^✗ Unknown option '--hepl'\n/)
    expect(stderr.split('\n')[1]).toContain('Usage: npm run saga:rebuild ')
  })
})
