import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { waitFor } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { getFreePort } from '../../packages/local-servers/src/process/free-port.js'
import { ensureDebianPackages } from '../support/debian-packages.js'
import { startTree, type Tree } from '../support/tree.js'

const files = resolve(import.meta.dirname, '../../ops/deploy/point-in-time')
const bin = '/usr/lib/postgresql/15/bin'
const scratch = mkdtempSync(join(tmpdir(), 'switchyard-pitr-'))
const folderOf = (name: string) => join(scratch, name)
const data = folderOf('data')
/** The folder of the services, which is not restored. */
const dataDir = folderOf('switchyard')

let port: number
let tree: Tree | undefined

/** Runs a program as the user of PostgreSQL, with the settings of pgBackRest that differ from its file. */
async function asPostgres(program: string, ...args: string[]): Promise<string> {
  const env = {
    PGBACKREST_CONFIG: folderOf('pgbackrest.conf'),
    PGBACKREST_REPO1_PATH: folderOf('repository'),
    PGBACKREST_PG1_PATH: data,
    PGBACKREST_PG1_PORT: String(port),
    PGBACKREST_PG1_SOCKET_PATH: folderOf('sockets'),
    PGBACKREST_LOG_PATH: folderOf('logs'),
    PGBACKREST_LOCK_PATH: folderOf('locks'),
  }
  const command = ['--reuid=postgres', '--regid=postgres', '--init-groups', program, ...args]
  // A server that keeps running would keep the standard output open.
  const output = program.endsWith('pg_ctl') ? 'ignore' : 'pipe'
  const { stdout } = await execa('setpriv', command, { cwd: scratch, env, stdout: output, stderr: output })
  return stdout ?? ''
}

const pgbackrest = (...args: string[]) => asPostgres('pgbackrest', '--stanza=switchyard', ...args)
const sql = (statement: string, database = 'switchyard') =>
  asPostgres(
    'psql',
    `--host=${folderOf('sockets')}`,
    `--port=${port}`,
    '--tuples-only',
    '--no-align',
    '--dbname',
    database,
    '--command',
    statement,
  )

const startServer = () =>
  asPostgres(join(bin, 'pg_ctl'), '--pgdata', data, '--wait', '--log', folderOf('logs/server'), 'start')
const stopServer = () => asPostgres(join(bin, 'pg_ctl'), '--pgdata', data, '--wait', '--mode=fast', 'stop')

async function startServices(): Promise<Tree> {
  const DATABASE_URL = `postgresql://postgres@127.0.0.1:${port}/switchyard`
  tree = await startTree({ dataDir, env: { DATABASE_URL } })
  return tree
}

async function stopServices(): Promise<void> {
  await tree?.stop()
  tree = undefined
}

async function ask(method: string, path: string): Promise<number> {
  const headers = { 'PRIVATE-TOKEN': tree?.rootToken ?? '' }
  return (await fetch(`${tree?.url}/api/v4/${path}`, { method, headers })).status
}
const makeProject = (name: string) => ask('POST', `projects?name=${name}&initialize_with_readme=true`)
const findProject = (name: string) => ask('GET', `projects/root%2F${name}`)

beforeAll(async () => {
  await ensureDebianPackages({ 'postgresql-15': join(bin, 'postgres'), pgbackrest: '/usr/bin/pgbackrest' })
  port = await getFreePort()
  chmodSync(scratch, 0o755)
  for (const name of ['data', 'repository', 'sockets', 'logs', 'locks'])
    mkdirSync(folderOf(name), { mode: 0o700 })
  await execa('chown', ['postgres', ...['data', 'repository', 'sockets', 'logs', 'locks'].map(folderOf)])
  copyFileSync(join(files, 'pgbackrest.conf'), folderOf('pgbackrest.conf'))
  const initdb = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8']
  await asPostgres(join(bin, 'initdb'), '--pgdata', data, ...initdb)
  const settings = [
    readFileSync(join(files, 'postgresql.conf'), 'utf8'),
    `port = ${port}`,
    "listen_addresses = '127.0.0.1'",
    `unix_socket_directories = '${folderOf('sockets')}'`,
    'max_connections = 200',
  ]
  await execa('tee', ['--append', join(data, 'postgresql.conf')], { input: `${settings.join('\n')}\n` })
  await startServer()
  await pgbackrest('stanza-create')
  await pgbackrest('check')
  await sql('CREATE DATABASE switchyard', 'postgres')
})
afterAll(async () => {
  await stopServices()
  await stopServer().catch(() => {})
  rmSync(scratch, { recursive: true, force: true })
})

it('a restore has every row from before an instant and none from after it, and the services continue', async () => {
  await startServices()
  expect(await makeProject('before')).toBe(201)
  await pgbackrest('--type=full', 'backup')
  expect(await makeProject('between')).toBe(201)
  const moment = (await sql('SELECT clock_timestamp()')).trim()
  expect(await makeProject('after')).toBe(201)
  await pgbackrest('check')
  await stopServices()
  await stopServer()

  rmSync(data, { recursive: true })
  mkdirSync(data, { mode: 0o700 })
  await execa('chown', ['postgres', data])
  await pgbackrest('--type=time', `--target=${moment}`, '--target-action=promote', 'restore')
  await startServer()
  await waitFor(async () => (await sql('SELECT pg_is_in_recovery()')).trim() === 'f', {
    what: 'the end of the recovery',
  })
  expect((await sql('SELECT path FROM projects ORDER BY id')).trim().split('\n')).toEqual([
    'before',
    'between',
  ])
  await sql("SELECT setval('projects_id_seq', nextval('projects_id_seq') + 100000)")
  // The jobs in Redis belong to the later state.
  rmSync(join(dataDir, 'redis'), { recursive: true })

  await startServices()
  expect([await findProject('before'), await findProject('between'), await findProject('after')]).toEqual([
    200, 200, 404,
  ])
  expect(await makeProject('after')).toBe(201)
  await pgbackrest('check')
})
