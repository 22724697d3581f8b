import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { bundled, programEnvironment } from '@switchyard/testing'
import S3rver from 's3rver'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addProject, createInstallation, type FilledProject, type Installation } from './installation.js'

const hasRestic = spawnSync('restic', ['version']).status === 0

let source: Installation
let project: FilledProject
let base: string
let folder: string

beforeAll(async () => {
  source = await createInstallation()
  project = await addProject(source)
  base = await mkdtemp(join(tmpdir(), 'switchyard-copies-'))
  folder = join(base, 'backup')
})
afterAll(async () => {
  await project.work.close()
  await source.close()
  await rm(base, { recursive: true, force: true })
})

/** Runs the program of the image with these settings, and returns its exit code and its output. */
async function run(args: string[], settings: NodeJS.ProcessEnv) {
  const locations = { DATABASE_URL: source.url, SWITCHYARD_STORAGE_ROOT: source.storageRoot }
  const env = { ...programEnvironment(), HOME: base, ...locations, ...settings }
  return promisify(execFile)(process.execPath, [await bundled('packages/backup'), ...args], { env }).then(
    ({ stdout }) => ({ code: 0, text: stdout }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, text: stderr }),
  )
}

it('a backup whose copy fails is complete, and reports the missing copy', async () => {
  const programs = join(base, 'programs')
  await mkdir(programs)
  for (const name of ['git', 'sh', 'nice'])
    await symlink(execFileSync('which', [name], { encoding: 'utf8' }).trim(), join(programs, name))
  const settings = { RESTIC_REPOSITORY: join(base, 'nowhere'), RESTIC_PASSWORD: 'x', PATH: programs }
  expect(await run(['backup', folder], settings)).toMatchObject({
    code: 1,
    text: expect.stringContaining('not its copy: RESTIC_REPOSITORY needs restic, which is not installed'),
  })
  expect(await run(['check', folder], {})).toMatchObject({ code: 0 })
})

it('rules that keep no copy are refused before anything is written', async () => {
  const none = { BACKUP_KEEP_DAILY: '0', BACKUP_KEEP_WEEKLY: '0', BACKUP_KEEP_MONTHLY: '0' }
  const { code, text } = await run(['backup', join(base, 'none')], {
    RESTIC_REPOSITORY: base,
    RESTIC_PASSWORD: 'x',
    ...none,
  })
  expect({ code, text }).toMatchObject({ code: 1, text: expect.stringContaining('BACKUP_KEEP_DAILY') })
  expect(await readdir(base)).not.toContain('none')
})

describe.skipIf(!hasRestic)('copies in a bucket', () => {
  let server: S3rver
  let settings: NodeJS.ProcessEnv

  beforeAll(async () => {
    const [key, cert] = [join(base, 'key.pem'), join(base, 'cert.pem')]
    const kind = ['-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost']
    const names = ['-addext', 'subjectAltName=DNS:localhost']
    execFileSync('openssl', ['req', '-x509', ...kind, ...names, '-keyout', key, '-out', cert], {
      stdio: 'pipe',
    })
    server = new S3rver({
      address: 'localhost',
      port: 0,
      silent: true,
      directory: join(base, 'buckets'),
      configureBuckets: [{ name: 'backups', configs: [] }],
      key: readFileSync(key),
      cert: readFileSync(cert),
    })
    const { port } = (await server.run()) as AddressInfo
    settings = {
      RESTIC_REPOSITORY: `s3:https://localhost:${port}/backups`,
      RESTIC_PASSWORD: 'of this test',
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
      SSL_CERT_FILE: cert,
      BACKUP_KEEP_DAILY: '1',
    }
  })
  afterAll(() => server.close())

  const restic = (...args: string[]) =>
    promisify(execFile)('restic', ['--quiet', ...args], {
      env: { PATH: process.env.PATH, HOME: base, ...settings },
    })
  const snapshots = async () =>
    JSON.parse((await restic('snapshots', '--json')).stdout) as { tags: string[] }[]

  it('are made after each backup, by the rules, and a fetched copy is a complete backup', async () => {
    expect(await run(['backup', folder], settings)).toMatchObject({ code: 0 })
    expect(await run(['backup', folder], settings)).toMatchObject({ code: 0 })
    expect(await snapshots()).toMatchObject([{ tags: ['switchyard'] }])
    const fetched = join(base, 'fetched')
    await restic('restore', 'latest', '--tag', 'switchyard', '--target', fetched)
    expect(await run(['check', fetched], {})).toMatchObject({
      code: 0,
      text: expect.stringContaining('1 repositories, 1 LFS objects'),
    })
  })

  it('do not affect copies of others in the same bucket', async () => {
    const other = join(base, 'other.txt')
    await writeFile(other, 'of others')
    await restic('backup', '--tag', 'other', other)
    expect(await run(['backup', folder], settings)).toMatchObject({ code: 0 })
    const tags = (await snapshots()).map((snapshot) => snapshot.tags[0])
    expect(tags).toEqual(expect.arrayContaining(['other', 'switchyard']))
  })

  it('fail with one line that names the cause when the password is wrong', async () => {
    const wrong = { ...settings, RESTIC_PASSWORD: 'another' }
    expect(await run(['backup', folder], wrong)).toMatchObject({
      code: 1,
      text: expect.stringMatching(/\n✗ The backup is complete, but not its copy: wrong password [^\n]*\n$/),
    })
  })
})
