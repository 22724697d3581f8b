import { chmodSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { execa, execaSync } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildService, readDockerfile, repository } from '../docker/test/support/build-stages.js'
import { serviceNames } from '../docker/test/support/service-configs.js'
import { startPostgres } from '../packages/dev-env/src/postgres.js'
import { findFreePort } from '../packages/dev-env/src/process/free-port.js'
import { findRedisServer } from '../packages/dev-env/src/tools/redis-server.js'
import { startTestRedis, type TestRedis } from '../packages/testing/src/test-redis.js'

// Does what the Dockerfile's build stages say, without Docker, and runs what would be in the images.
const folder = mkdtempSync(join(tmpdir(), 'switchyard-images-'))
const apps = new Map<string, string>()
const appOf = (name: string) => apps.get(name) ?? ''
let postgres: Awaited<ReturnType<typeof startPostgres>>
let redis: TestRedis

beforeAll(async () => {
  const env = buildEnvironment()
  const build = async (service: string) => {
    apps.set(service, await buildService({ service, folder: join(folder, service), env }))
  }
  // The packages that all services share are built once and come out of turbo's cache afterwards. Then two services are
  // built at a time, since much of a build uses one core.
  const [first = '', ...others] = serviceNames
  for (const service of ['db', first]) await build(service)
  const middle = Math.ceil(others.length / 2)
  const lanes = [others.slice(0, middle), others.slice(middle)]
  await Promise.all(
    lanes.map(async (lane) => {
      for (const service of lane) await build(service)
    }),
  )
  // Under root PostgreSQL runs as another user, who must pass through this folder.
  chmodSync(folder, 0o711)
  postgres = await startPostgres({ dataDir: join(folder, 'postgres'), log: () => {}, durable: false })
  const tools = join(repository, '.switchyard', 'tools')
  process.env.SWITCHYARD_TEST_REDIS_SERVER ||= await findRedisServer(tools, console.error)
  redis = await startTestRedis()
}, 900_000)

afterAll(async () => {
  await redis?.stop()
  await postgres?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** The tools that the Dockerfile's first stage installs, of the same versions. */
function buildEnvironment(): Record<string, string> {
  const texts = readDockerfile()
    .getInstructions()
    .map((item) => item.getArgumentsContent() ?? '')
  const version = texts.find((text) => text.startsWith('PNPM_VERSION='))?.split('=')[1]
  const { stdout: pnpm } = execaSync('npx', [
    '--yes',
    '--package',
    `pnpm@${version}`,
    '-c',
    'command -v pnpm',
  ])
  return {
    CI: 'true',
    TURBO_TELEMETRY_DISABLED: '1',
    TURBO_CACHE_DIR: join(repository, 'node_modules/.cache/switchyard-images'),
    PATH: [dirname(pnpm), join(repository, 'node_modules/.bin'), process.env.PATH].join(delimiter),
  }
}

/** Symbolic links below a folder that lead out of it. */
function strayLinks(root: string, below = root): string[] {
  return readdirSync(below, { withFileTypes: true }).flatMap((entry) => {
    const path = join(below, entry.name)
    if (entry.isSymbolicLink()) return realpathSync(path).startsWith(`${realpathSync(root)}/`) ? [] : [path]
    return entry.isDirectory() ? strayLinks(root, path) : []
  })
}

/** Plain node in the folder that becomes /app, with nothing of this environment but PATH. */
const run = (name: string, main: string, env: Record<string, string>) =>
  execa('node', ['--enable-source-maps', main], {
    cwd: appOf(name),
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ...env },
    extendEnv: false,
    reject: false,
    all: true,
    forceKillAfterDelay: 20_000,
  })

describe.each(['db', ...serviceNames])('%s as it is deployed', (name) => {
  it('stands alone: no link leads out of its folder, and no development tool is in it', () => {
    expect(strayLinks(appOf(name))).toEqual([])
    const { components } = JSON.parse(readFileSync(join(appOf(name), 'sbom.cdx.json'), 'utf8')) as {
      components: { name: string; purl: string }[]
    }
    const tools = /^(prisma|typescript|turbo|tsx|vitest)$/
    expect(components.filter((item) => tools.test(item.name))).toEqual([])
    expect(components.length).toBeGreaterThan(3)
    // A library both in the bundle and beside it would be listed twice.
    expect(new Set(components.map((item) => item.purl)).size).toBe(components.length)
  })
})

describe('the deployed program', () => {
  it('of db migrates an empty database, and finds nothing to do the second time', async () => {
    const migrate = () => run('db', 'dist/bundle/migrate.js', { DATABASE_URL: postgres.url })
    const first = await migrate()
    expect(first).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('applied ') })
    expect(await migrate()).toMatchObject({ exitCode: 0, stdout: 'the database is up to date' })
  })

  it.each(serviceNames)('of %s starts with plain node, becomes ready, and ends on SIGTERM', async (name) => {
    const port = await findFreePort()
    const child = run(name, 'dist/bundle/main.js', {
      PORT: String(port),
      GRPC_PORT: '0',
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      SWITCHYARD_STORAGE_ROOT: join(folder, 'repositories'),
      SWITCHYARD_ROOT_TOKEN: 'a-token-for-this-test-only',
    })
    const readiness = () =>
      fetch(`http://127.0.0.1:${port}/-/readiness`).then(
        (response) => response.json(),
        (error: Error) => error.message,
      )
    await expect.poll(readiness, { timeout: 30_000 }).toMatchObject({ status: 'ok' })
    child.kill('SIGTERM')
    const { exitCode, all } = await child
    expect(exitCode, all).toBe(0)
  })
})
