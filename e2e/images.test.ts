import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { credentials, Metadata } from '@grpc/grpc-js'
import { type CommonResponse, SagaClient } from '@switchyard/contracts/saga'
import { execa, type ResultPromise } from 'execa'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { serviceNames } from '../docker/test/support/service-configs.js'
import { startPostgres } from '../packages/dev-env/src/postgres.js'
import { findFreePort } from '../packages/dev-env/src/process/free-port.js'
import { findRedisServer } from '../packages/dev-env/src/tools/redis-server.js'
import { buildImages, imageOf } from './images/build-images.js'
import { configOf, withFiles } from './images/buildah.js'
import { type Container, startContainer } from './images/container.js'

const folder = mkdtempSync(join(tmpdir(), 'switchyard-images-'))
const token = 'a-token-for-this-test-only'
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
let base: string
let postgres: Awaited<ReturnType<typeof startPostgres>>
let redis: ResultPromise
let redisUrl: string
let running: Container | undefined

beforeAll(async () => {
  base = await buildImages(['db', ...serviceNames])
  // Under root PostgreSQL runs as another user, who must pass through this folder.
  chmodSync(folder, 0o711)
  postgres = await startPostgres({ dataDir: join(folder, 'postgres'), log: () => {}, durable: false })
  const server = await findRedisServer('.switchyard/tools', console.error)
  const port = String(await findFreePort())
  redis = execa(server, ['--bind', '127.0.0.1', '--port', port, '--save', ''], { reject: false })
  redisUrl = `redis://127.0.0.1:${port}`
}, 3_600_000)

afterEach(async () => {
  await running?.remove()
  running = undefined
})

afterAll(async () => {
  redis?.kill()
  await redis
  await postgres?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Bytes of the files of an image. */
const sizeOf = (image: string) =>
  withFiles(image, async (files) => Number.parseInt((await execa('du', ['-sb', files])).stdout, 10))

interface Doors {
  url: string
  grpcAddress: string
}

async function call(url: string, body?: object): Promise<string> {
  const init = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers }
  const response = await fetch(url, init)
  const text = await response.text()
  expect(response.ok, `${url}: ${response.status} ${text}`).toBe(true)
  return text
}

/** What each service is there for, once. git-api is first: the others know the token from it, and the worker its job. */
const uses: Record<string, (doors: Doors) => Promise<void>> = {
  'git-api': async ({ url }) => {
    await call(`${url}/api/v4/projects`, { name: 'shipped' })
    const actions = [{ action: 'create', file_path: 'README.md', content: 'from an image' }]
    const commit = { branch: 'main', commit_message: 'One file', actions }
    await call(`${url}/api/v4/projects/root%2Fshipped/repository/commits`, commit)
    const remote = `${url.replace('//', `//root:${token}@`)}/root/shipped.git`
    await execa('git', ['clone', '--quiet', remote, join(folder, 'clone')])
    expect(readFileSync(join(folder, 'clone/README.md'), 'utf8')).toBe('from an image')
  },
  'saga-reporter': async ({ grpcAddress }) => {
    const metadata = new Metadata()
    metadata.set('authorization', `Bearer ${token}`)
    const sagas = new SagaClient(grpcAddress, credentials.createInsecure())
    const event = { sagaId: 'shipped', serviceName: 'images' }
    const answer = await new Promise<CommonResponse>((resolve, reject) => {
      sagas.sagaStarted(event, metadata, (error, response) => (error ? reject(error) : resolve(response)))
    })
    sagas.close()
    expect(answer).toMatchObject({ isSuccess: true })
    const rebuilt = await running?.exec('node', 'dist/bundle/rebuild.js', '--verify')
    expect(rebuilt).toMatchObject({ exitCode: 0, all: expect.stringContaining('1 sagas') })
  },
  'admin-broadcast': async ({ url }) => {
    await call(`${url}/api/v4/broadcast_messages`, { message: 'from an image' })
    expect(await call(`${url}/api/v4/broadcast_messages`)).toContain('from an image')
  },
  'jobqueue-metrics': async ({ url }) => {
    expect(await call(`${url}/api/v4/sidekiq/queue_metrics`)).toContain('"queues"')
  },
  console: async ({ url }) => {
    expect(await call(`${url}/console/`)).toContain('<div id="root">')
  },
  worker: async ({ url }) => {
    const metrics = () => call(`${url}/-/metrics`)
    await expect.poll(metrics, { timeout: 90_000 }).toMatch(/^worker_job_attempts_total\{.*\} [1-9]/m)
  },
}

it.each(['db', ...serviceNames])(
  'the image of %s adds less than 120 MB, and lists each of its libraries once',
  async (name) => {
    const added = ((await sizeOf(imageOf(name))) - (await sizeOf(base))) / 1e6
    console.log(`${name}: ${added.toFixed()} MB above its base`)
    expect(added).toBeLessThan(120)
    const list = await withFiles(imageOf(name), (files) =>
      readFileSync(join(files, 'app/sbom.cdx.json'), 'utf8'),
    )
    const { components } = JSON.parse(list) as { components: { name: string; purl: string }[] }
    expect(components.filter((item) => /^(prisma|typescript|turbo|tsx|vitest)$/.test(item.name))).toEqual([])
    expect(components.length).toBeGreaterThan(3)
    // A library both in the bundle and beside it would be listed twice.
    expect(new Set(components.map((item) => item.purl)).size).toBe(components.length)
  },
)

it('the image of db migrates an empty database, and finds nothing to do the second time', async () => {
  const migrate = async () => {
    const container = await startContainer(imageOf('db'), { DATABASE_URL: postgres.url })
    const ended = await container.ended
    await container.remove()
    return ended
  }
  expect(await migrate()).toMatchObject({ exitCode: 0, all: expect.stringContaining('applied ') })
  expect(await migrate()).toMatchObject({ exitCode: 0, all: 'the database is up to date' })
})

describe('a container', () => {
  it('is tried of every service', () => {
    expect(Object.keys(uses).sort()).toEqual([...serviceNames].sort())
  })

  it.each(Object.keys(uses))(
    'of %s serves as a user without rights, tells its health, and ends on SIGTERM',
    async (name) => {
      const port = String(await findFreePort())
      const grpcPort = String(await findFreePort())
      const container = await startContainer(imageOf(name), {
        HOST: '127.0.0.1',
        PORT: port,
        GRPC_PORT: grpcPort,
        DATABASE_URL: postgres.url,
        REDIS_URL: redisUrl,
        SWITCHYARD_ROOT_TOKEN: token,
      })
      running = container
      const url = `http://127.0.0.1:${port}`
      const readiness = () => fetch(`${url}/-/readiness`).then((response) => response.status, String)
      await expect.poll(readiness, { timeout: 60_000 }).toBe(200)

      const [, ...health] = (await configOf(imageOf(name))).Healthcheck.Test
      expect(await container.exec(...health)).toMatchObject({ exitCode: 0 })
      expect((await container.exec('id', '-u')).all).toBe('1000')
      const written = await container.exec('touch', 'dist/bundle/main.js')
      expect(written.all).toContain('Permission denied')
      await uses[name]?.({ url, grpcAddress: `127.0.0.1:${grpcPort}` })

      container.terminate()
      const { exitCode, all } = await container.ended
      expect(exitCode, all).toBe(0)
      expect(await container.exec(...health)).toMatchObject({ exitCode: 1 })
    },
  )
})
