import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { getFreePort } from '../../packages/local-servers/src/process/free-port.js'
import { olderNodeEnvironment } from '../support/older-node.js'
import { spawnStart } from '../support/tree.js'

const root = resolve(import.meta.dirname, '../..')
const revision = 'fedcba9876543210fedcba9876543210fedcba98'
const release = { version: '0.1.0', revision, committed_at: '2026-01-31T12:00:00.000Z' }
const work = mkdtempSync(join(tmpdir(), 'switchyard-release-test-'))
const prefix = join(work, 'prefix')
const dataDir = join(work, 'data')
const switchyard = join(prefix, 'bin/switchyard')
let started: ReturnType<typeof spawnStart>
let url: string
let grpcPort: string

/** The packing step of `pnpm release`, with the files of this checkout instead of a commit. */
const packing = `
  import { writeFileSync } from 'node:fs'
  import { packFolder } from './ops/bundler/tarball.mjs'
  import { command, stageInstallation } from './ops/release/stage-installation.mjs'
  const [, stage, release] = process.argv
  stageInstallation(process.cwd(), stage, JSON.parse(release))
  writeFileSync(stage + '.tgz', await packFolder(stage, new Set([command])))`

async function pack(name: string): Promise<string> {
  const stage = join(work, name)
  await execa('node', ['--input-type=module', '--eval', packing, stage, JSON.stringify(release)], {
    cwd: root,
  })
  return `${stage}.tgz`
}

const run = (args: string[], env: Record<string, string> = {}) =>
  execa(switchyard, args, {
    env: { SWITCHYARD_DATA: dataDir, NO_COLOR: '1', ...env },
    all: true,
    reject: false,
  })

async function api(path: string, init: RequestInit = {}) {
  const token = readFileSync(join(dataDir, 'root-token'), 'utf8').trim()
  const response = await fetch(`${url}/api/v4/${path}`, { ...init, headers: { 'PRIVATE-TOKEN': token } })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

beforeAll(async () => {
  const tarball = await pack('once')
  const again = await pack('twice')
  expect(readFileSync(tarball).equals(readFileSync(again)), 'the same sources make the same bytes').toBe(true)
  await execa('npm', ['install', '--global', '--prefix', prefix, '--prefer-offline', tarball])
  const [port, grpc] = [String(await getFreePort()), String(await getFreePort())]
  grpcPort = grpc
  url = `http://127.0.0.1:${port}`
  const env = { PORT: port, GRPC_PORT: grpc, SWITCHYARD_DATA: dataDir, ...(await olderNodeEnvironment()) }
  started = spawnStart(env, { command: switchyard, args: ['start'] }, work)
  await started.ready
})
afterAll(async () => {
  started?.process.kill('SIGINT')
  await started?.exited
  rmSync(work, { recursive: true, force: true })
})

it('a release is one file that runs everything without a checkout, a build or a registry for its libraries', async () => {
  expect((await api('projects?name=demo', { method: 'POST' })).status).toBe(201)
  expect((await fetch(`${url}/console/`)).status).toBe(200)
  expect((await fetch(`${url}/api/v4/docs/swagger-ui.css`)).status).toBe(200)
  expect((await fetch(`${url}/api/v4/broadcast_messages/banner.js`)).status).toBe(200)
  const reported = await run(['report-saga', 'booking-1'], { GRPC_PORT: grpcPort })
  expect(reported.all).toContain('SagaEnded booking-1 recorded')
})

it('no file contains the path of its build folder, so that every checkout produces the same release', async () => {
  const { stdout } = await execa('grep', ['-rl', '--fixed-strings', root, join(work, 'once')], {
    reject: false,
  })
  expect(stdout).toBe('')
})

it('a release shows its version: in the command, in the API, and to administrators with its age', async () => {
  expect((await run(['--version'])).stdout).toBe('0.1.0 (commit fedcba98765 of 2026-01-31)')
  expect((await api('version')).body).toMatchObject({ revision: revision.slice(0, 11) })
  expect((await api('system')).body).toMatchObject({ revision, revision_at: release.committed_at })
})

it('a release controls an instance with the same command, even on the oldest supported Node', async () => {
  const env = { XDG_CONFIG_HOME: join(work, 'config'), ...(await olderNodeEnvironment()) }
  const input = readFileSync(join(dataDir, 'root-token'), 'utf8')
  await execa(switchyard, ['login', url], { env, input })
  expect((await run(['whoami'], env)).stdout).toMatch(/^user +root$/m)
  const { stdout } = await run(['--help'], env)
  expect(stdout).toMatch(/^ +saga /m)
  expect(stdout).toMatch(/^ +backup +backs up into a folder/m)
})

it('a backup of a release is made by its command, and its folder contains no data', async () => {
  const backup = join(work, 'backup')
  expect((await run(['backup', backup])).all).toContain('1 repositories')
  expect((await run(['backup', '--check', backup])).exitCode).toBe(0)
  expect(readdirSync(join(prefix, 'lib/node_modules/switchyard'))).not.toContain('.switchyard')
})

it('a second start on the same data reports the running one', async () => {
  const { all, exitCode } = await run(['start'])
  expect(all).toContain(`Switchyard already runs on ${dataDir}`)
  expect(exitCode).toBe(1)
})

it.each([
  { args: ['--help'], exitCode: 0, says: 'Usage: switchyard COMMAND' },
  { args: [], exitCode: 2, says: 'Usage: switchyard COMMAND' },
  { args: ['sart'], exitCode: 2, says: '✗ sart is no command' },
  { args: ['toString'], exitCode: 2, says: '✗ toString is no command' },
  { args: ['start', '--watch'], exitCode: 2, says: 'Usage: switchyard start' },
  { args: ['backup'], exitCode: 2, says: 'Usage: switchyard backup [--check] FOLDER' },
])('the command says how to use it: $args', async ({ args, exitCode, says }) => {
  const result = await run(args)
  expect(result.all).toContain(says)
  expect(result.exitCode).toBe(exitCode)
})
