import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { credentials, Metadata } from '@grpc/grpc-js'
import { SagaClient } from '@switchyard/contracts/saga'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startGateway } from '../gateway/test/support/gateway.js'
import { startPostgres } from '../packages/dev-env/src/postgres.js'
import { findFreePort } from '../packages/dev-env/src/process/free-port.js'
import { startRedis } from '../packages/dev-env/src/redis.js'
import { applyMigrations, prepareLogins } from '../packages/dev-env/src/start/schema.js'
import {
  makeServiceFolders,
  type Neighbours,
  type RunningService,
  type ServiceName,
  serviceNames,
  startService,
  waitUntilReady,
} from '../packages/dev-env/src/start/services.js'
import { readSettings } from '../packages/dev-env/src/start/settings.js'
import { findRedisServer } from '../packages/dev-env/src/tools/redis-server.js'

const root = resolve(import.meta.dirname, '..')
const before = process.env.SWITCHYARD_RELEASE_BEFORE ?? root
const folder = mkdtempSync(join(tmpdir(), 'switchyard-upgrade-'))
const rootToken = `swy-${randomBytes(24).toString('hex')}`

interface Instance {
  name: ServiceName
  port: number
  grpcPort: number
  running: RunningService
}

const cleanups: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
const instances: Instance[] = []
let neighbours: Neighbours
let gateway: Awaited<ReturnType<typeof startGateway>>
let client: SagaClient

/** Starts a service of the checkout in `from`. */
async function start(from: string, name: ServiceName, port: number, grpcPort: number): Promise<Instance> {
  const { DATABASE_URL: _database, REDIS_URL: _redis, ...inherited } = process.env
  const env = { ...inherited, NODE_ENV: 'test', SWITCHYARD_DATA: folder, SWITCHYARD_ROOT_TOKEN: rootToken }
  const settings = { ...readSettings(from, env, false), grpcPort }
  const running = await startService(name, settings, neighbours, () => {}, port)
  await waitUntilReady(running, () => false)
  return { name, port, grpcPort, running }
}

beforeAll(async () => {
  const log = () => {}
  const postgres = await startPostgres({ dataDir: join(folder, 'postgres'), log })
  cleanups.push(postgres.stop)
  const server = await findRedisServer(join(root, '.switchyard', 'tools'), log)
  const redis = await startRedis({ dataDir: join(folder, 'redis'), server, log })
  cleanups.push(redis.stop)
  makeServiceFolders(folder)
  await applyMigrations(before, postgres.url)
  await applyMigrations(root, postgres.url)
  const databaseUrlOf = await prepareLogins({ ...postgres, embedded: true, kill: () => {} })
  neighbours = { databaseUrlOf, redisUrlOf: () => redis.url }
  cleanups.push(() => Promise.all(instances.map(({ running }) => running.process.stop())))
  for (const name of serviceNames)
    for (const _ of ['one', 'two'])
      instances.push(await start(before, name, await findFreePort(), await findFreePort()))
  const of = (name: ServiceName) => instances.filter((instance) => instance.name === name)
  const ports = Object.fromEntries(serviceNames.map((name) => [name, of(name).map(({ port }) => port)]))
  gateway = await startGateway({
    ...ports,
    'saga-reporter-grpc': of('saga-reporter').map(({ grpcPort }) => grpcPort),
  })
  cleanups.push(gateway.stop)
  client = new SagaClient(gateway.grpcAddress, credentials.createInsecure())
  cleanups.push(() => client.close())
})
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

async function ask(path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${gateway.url}/api/v4/${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { 'PRIVATE-TOKEN': rootToken, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.status} ${text}`)
  return JSON.parse(text)
}

const commit = (name: string) =>
  ask('projects/root%2Fkept/repository/commits', {
    branch: 'main',
    commit_message: name,
    actions: [{ action: 'create', file_path: name, content: name }],
  }) as Promise<{ id: string }>

const report = (sagaId: string) =>
  new Promise<void>((done, fail) => {
    const deadline = { deadline: Date.now() + 30_000 }
    client.sagaStarted({ sagaId, serviceName: 'upgrade' }, new Metadata(), deadline, (error, answer) => {
      if (error) fail(error)
      else if (answer.isSuccess) done()
      else fail(new Error('refused'))
    })
  })

const batch = (name: string) =>
  ask('saga_events', {
    events: [{ operation: 'SagaStarted', event_id: name, saga_id: name, service_name: 'upgrade' }],
  })

/** Clones the project, and returns what pushes one more commit to a branch of its own. */
async function clone() {
  const cwd = mkdtempSync(join(folder, 'clone-'))
  const env = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0' }
  const git = async (...args: string[]) =>
    (await execa('git', ['-c', 'user.name=e2e', '-c', 'user.email=e2e@example.com', ...args], { cwd, env }))
      .stdout
  const remote = `${gateway.url.replace('//', `//root:${rootToken}@`)}/root/kept.git`
  await git('clone', '--quiet', remote, '.')
  return async () => {
    await git('commit', '--quiet', '--allow-empty', '--message', 'pushed')
    await git('push', '--quiet', 'origin', 'HEAD:pushed')
    return await git('rev-parse', 'HEAD')
  }
}

/** Everything that was asked until it is stopped: how much, what was acknowledged, what failed. */
function load(push: () => Promise<string>) {
  const done = { commits: [] as string[], sagas: [] as string[], failures: [] as string[], reads: 0 }
  let isStopped = false
  const repeat = async (what: string, work: (number: number) => Promise<unknown>) => {
    for (let number = 0; !isStopped; number += 1)
      await work(number).catch((error: Error) => done.failures.push(`${what}: ${error.message}`))
  }
  const loops = [
    repeat('commit', async (number) => done.commits.push((await commit(`file-${number}`)).id)),
    repeat('saga', async (number) => {
      await report(`saga-${number}`)
      done.sagas.push(`saga-${number}`)
    }),
    repeat('batch', async (number) => {
      await batch(`batch-${number}`)
      done.sagas.push(`batch-${number}`)
    }),
    repeat('push', async () => done.commits.push(await push())),
    ...['user', 'sagas?per_page=5', 'broadcast_messages', 'jobqueue/job_stats'].map((path) =>
      repeat(path, async () => {
        await ask(path)
        done.reads += 1
      }),
    ),
  ]
  return {
    done,
    async stop() {
      isStopped = true
      await Promise.all(loops)
    },
  }
}

it('the release before runs on the new schema and is replaced, one by one, without a failed request or a lost write', async () => {
  await ask('projects', { name: 'kept' })
  await commit('first')
  const { done, stop } = load(await clone())
  for (const [index, { name, port, grpcPort, running }] of instances.entries()) {
    await running.process.stop()
    instances[index] = await start(root, name, port, grpcPort)
  }
  await stop()
  console.log(`${done.commits.length} commits, ${done.sagas.length} sagas, ${done.reads} reads`)
  expect(done.failures).toEqual([])
  for (const id of done.commits) await ask(`projects/root%2Fkept/repository/commits/${id}`)
  for (const id of done.sagas) await ask(`sagas/${id}`)
})
