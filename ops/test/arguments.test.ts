import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { repository } from '../docker/test/support/build-stages.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'switchyard-arguments-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

interface Outcome {
  code: number
  stdout: string
  stderr: string
}

const runScript = (script: string, args: string[], env: Record<string, string> = {}): Promise<Outcome> =>
  promisify(execFile)(process.execPath, [join(repository, script), ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
  }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: Outcome) => ({ code, stdout, stderr }),
  )

const scripts = [
  'ops/start.mjs',
  'ops/backup.mjs',
  'ops/restore.mjs',
  'ops/report-saga.mjs',
  'ops/storage-check.mjs',
  'trials/upgrade/run.mjs',
  'ops/docker/make-env.mjs',
  'ops/docker/sign.mjs',
]

describe.each(scripts)('%s', (script) => {
  it('--help describes the arguments and does nothing', async () => {
    const { code, stdout } = await runScript(script, ['--help'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^Usage: /) })
    expect(readdirSync(folder)).toEqual([])
  })

  it('refuses an unknown option before it does anything', async () => {
    const { code, stderr } = await runScript(script, ['--chekc', 'made'])
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/^✗ Unknown option '--chekc'.*\nUsage: /),
    })
    expect(readdirSync(folder)).toEqual([])
  })

  it('refuses too many arguments', async () => {
    const { code, stderr } = await runScript(script, ['one', 'two', 'three', 'four'])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('is one argument too many') })
  })
})

it('a backup and a restore require their folder', async () => {
  for (const script of ['ops/backup.mjs', 'ops/restore.mjs']) {
    const { code, stderr } = await runScript(script, [])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('✗ FOLDER is missing') })
  }
})

it('a new path without a project restores nothing', async () => {
  const { code, stderr } = await runScript('ops/restore.mjs', ['--as', 'alice/app', 'made'])
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('✗ --as needs --project') })
})

it('refuses an option of a backup that npm has taken', async () => {
  const npm = { npm_command: 'run', npm_lifecycle_event: 'backup', npm_config_check: 'true' }
  const { code, stderr } = await runScript('ops/backup.mjs', [join(folder, 'made')], npm)
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining('write "npm run backup -- --check …"'),
  })
  expect(readdirSync(folder)).toEqual([])
})

it('refuses a rebuild of sagas whose --verify npm has taken', async () => {
  const npm = { npm_command: 'run', npm_lifecycle_event: 'saga:rebuild', npm_config_verify: 'true' }
  const { code, stderr } = await runScript('ops/run-built.mjs', ['saga:rebuild'], npm)
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining('write "npm run saga:rebuild -- --verify …"'),
  })
})
