import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { credentials, Metadata } from '@grpc/grpc-js'
import { type CommonResponse, SagaClient } from '@switchyard/contracts/saga'
import { execa, type ResultPromise } from 'execa'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { serviceNames } from '../../ops/docker/test/support/service-configs.js'
import { startPostgres } from '../../packages/local-servers/src/postgres.js'
import { getFreePort } from '../../packages/local-servers/src/process/free-port.js'
import { getRedisServer } from '../../packages/local-servers/src/tools/servers.js'
import { toolsFolder } from '../../packages/local-servers/src/tools/tools-folder.js'
import { buildImages, imageOf } from './build-images.js'
import { configOf, idOf, withFiles } from './buildah.js'
import { type Container, startContainer } from './container.js'
import { debianPackagesIn, isCompatible, listedIn, npmPackagesIn } from './parts.js'
import { type Release, releaseImages, verifyingCommands } from './release.js'

const folder = mkdtempSync(join(tmpdir(), 'switchyard-images-'))
const token = 'a-token-for-this-test-only'
const imageNames = ['db', 'backup', ...serviceNames]
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
let base: string
let postgres: Awaited<ReturnType<typeof startPostgres>>
let redis: ResultPromise
let redisUrl: string
let running: Container | undefined

beforeAll(async () => {
  base = await buildImages(imageNames)
  // Under root, PostgreSQL runs as another user, who must be able to enter this folder.
  chmodSync(folder, 0o711)
  postgres = await startPostgres({ dataDir: join(folder, 'postgres'), log: () => {}, durable: false })
  const server = await getRedisServer(toolsFolder(join(import.meta.dirname, '../..')), console.error)
  const port = String(await getFreePort())
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

/** Returns a folder for the stored data of a container, made from the folder of the image like a volume. */
function volume(name: string): string {
  const path = join(folder, name)
  mkdirSync(path, { recursive: true })
  chownSync(path, 1000, 1000)
  return path
}

const storageIn = (name: string) => ({ '/var/lib/switchyard': volume(name) })

/** Returns the bytes of an image's files. */
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

/** One use of each service. git-api is first, because the others need its token, and the worker its job. */
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

it.each(imageNames)(
  'the image of %s adds less than 120 MB, and lists each of its libraries once',
  async (name) => {
    const added = ((await sizeOf(imageOf(name))) - (await sizeOf(base))) / 1e6
    console.log(`${name}: ${added.toFixed()} MB above its base`)
    expect(added).toBeLessThan(120)
    const components = await withFiles(imageOf(name), listedIn)
    expect(components.filter((item) => /^(prisma|typescript|turbo|tsx|vitest)$/.test(item.name))).toEqual([])
    // A library that is both in the bundle and beside it would be listed twice.
    expect(new Set(components.map((item) => item.purl)).size).toBe(components.length)
  },
)

it.each(imageNames)(
  'the image of %s lists every package in it, and may ship each npm package',
  async (name) => {
    await withFiles(imageOf(name), async (files) => {
      const components = listedIn(files)
      const listed = (type: string) =>
        components
          .filter(({ purl }) => purl.startsWith(`pkg:${type}/`))
          .map((item) => `${item.name} ${item.version}`)
      const [debian, npm] = [await debianPackagesIn(files), await npmPackagesIn(files)]
      console.log(`${name}: ${debian.length} packages of Debian, ${listed('npm').length} of npm`)
      expect(listed('deb').sort()).toEqual(debian.sort())
      expect(listed('npm')).toEqual(expect.arrayContaining(npm))
      // Node's image contains npm, which consists of many packages.
      expect(npm.length).toBeGreaterThan(100)
      expect(listed('generic')).toEqual([`node ${/:([\d.]+)-/.exec(base)?.[1]}`])
      // The packages that come with Node have their own licences.
      const ofNode = await npmPackagesIn(join(files, 'usr/local/lib'))
      const ours = components.filter(
        (item) => item.purl.startsWith('pkg:npm/') && !ofNode.includes(`${item.name} ${item.version}`),
      )
      const incompatible = ours.filter((item) => !isCompatible(item))
      expect(incompatible.map(({ purl, licenses }) => ({ purl, licenses }))).toEqual([])
    })
  },
)

it('the image of console lists the libraries of its pages, of their workers and styles', async () => {
  const names = (await withFiles(imageOf('console'), listedIn)).map((item) => item.name)
  expect(names).toEqual(expect.arrayContaining(['react-dom', 'uplot', 'highlight.js', 'tailwindcss']))
})

it('the image of db migrates an empty database, and finds nothing to do the second time', async () => {
  const migrate = async () => {
    const container = await startContainer(imageOf('db'), { variables: { DATABASE_URL: postgres.url } })
    const ended = await container.ended
    await container.remove()
    return ended
  }
  expect(await migrate()).toMatchObject({ exitCode: 0, all: expect.stringContaining('applied ') })
  expect(await migrate()).toMatchObject({ exitCode: 0, all: 'the database is up to date' })
})

describe('a container', () => {
  it('is tested for every service', () => {
    expect(Object.keys(uses).sort()).toEqual([...serviceNames].sort())
  })

  it.each(Object.keys(uses))(
    'of %s serves as a user without privileges, reports its health, and ends on SIGTERM',
    async (name) => {
      const port = String(await getFreePort())
      const grpcPort = String(await getFreePort())
      const variables = {
        HOST: '127.0.0.1',
        PORT: port,
        GRPC_PORT: grpcPort,
        DATABASE_URL: postgres.url,
        REDIS_URL: redisUrl,
        SWITCHYARD_ROOT_TOKEN: token,
      }
      const container = await startContainer(imageOf(name), { variables, volumes: storageIn('storage') })
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

describe('the image of backup', () => {
  const documentation = readFileSync('docs/backup.md', 'utf8')
  const restoring = /^ {4}docker compose run --rm backup (.+)$/m.exec(documentation)?.[1]?.split(' ') ?? []
  const run = async (database: string, storage: string, command?: string[]) => {
    const volumes = { ...storageIn(storage), '/backup': volume('backup') }
    const options = { variables: { DATABASE_URL: database }, volumes, ...(command && { command }) }
    const container = await startContainer(imageOf('backup'), options)
    const ended = await container.ended
    await container.remove()
    return ended
  }

  it('backs up the data of containers, and restores it into an empty installation that serves it', async () => {
    for (const _ of ['first', 'again'])
      expect(await run(postgres.url, 'storage')).toMatchObject({
        exitCode: 0,
        all: expect.stringContaining('1 repositories'),
      })
    const empty = await startPostgres({ dataDir: join(folder, 'restored'), log: () => {}, durable: false })
    try {
      expect(await run(empty.url, 'storage-restored', restoring)).toMatchObject({
        exitCode: 0,
        all: expect.stringContaining('restored everything up to'),
      })
      const port = String(await getFreePort())
      const variables = { HOST: '127.0.0.1', PORT: port, DATABASE_URL: empty.url, REDIS_URL: redisUrl }
      running = await startContainer(imageOf('git-api'), {
        variables,
        volumes: storageIn('storage-restored'),
      })
      const file = `http://127.0.0.1:${port}/api/v4/projects/root%2Fshipped/repository/files/README.md/raw`
      const read = () => fetch(`${file}?ref=main`, { headers }).then((answer) => answer.text(), String)
      await expect.poll(read, { timeout: 60_000 }).toBe('from an image')
      await running.remove()
      running = undefined
    } finally {
      await empty.stop()
    }
  })

  it('refuses to overwrite existing data, in one line', async () => {
    expect(await run(postgres.url, 'storage', restoring)).toMatchObject({
      exitCode: 1,
      all: expect.stringMatching(/^✗ .* is not empty: restore into an empty installation$/m),
    })
  })
})

describe('a release', () => {
  let release: Release
  const name = 'console'
  const file = (suffix: string) => join(release.folder, `${name}.${suffix}`)
  beforeAll(async () => {
    release = await releaseImages(imageNames, join(folder, 'release'))
  })

  it('has a recipe in SECURITY.md for archive, list of libraries and provenance', () => {
    expect(verifyingCommands().map((line) => /--type (\w+)|verify-blob /.exec(line)?.[0].trim())).toEqual([
      'verify-blob',
      '--type cyclonedx',
      '--type slsaprovenance1',
    ])
  })

  it.each(imageNames)('of %s is verified by the recipe, and is the image that runs here', async (image) => {
    expect(await release.verify(image)).toEqual([])
    const archive = join(release.folder, `${image}.tar`)
    console.log(`${image}: archive of ${(statSync(archive).size / 1e6).toFixed()} MB`)
    const { predicate } = release.readStatement(`${image}.provenance.json`)
    expect(predicate).toMatchObject({
      buildDefinition: {
        externalParameters: { arguments: { SERVICE: image } },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: expect.stringMatching(/^[\da-f]{40}$/) } },
          { name: expect.stringContaining('switchyard-node@sha256:') },
          { name: 'pnpm-lock.yaml' },
          { name: 'ops/docker/Dockerfile' },
        ],
      },
      runDetails: { byproducts: [{ name: 'image', digest: { sha256: await idOf(imageOf(image)) } }, {}] },
    })
    const components = await withFiles(imageOf(image), listedIn)
    expect(release.readStatement(`${image}.sbom.json`).predicate.components).toEqual(components)
  })

  it('is refused when the archive of the image has changed', async () => {
    appendFileSync(file('tar'), 'x')
    expect(await release.verify(name)).toHaveLength(3)
    truncateSync(file('tar'), statSync(file('tar')).size - 1)
    expect(await release.verify(name)).toEqual([])
  })

  it.each(['sbom', 'provenance'])(
    'is refused when its %s has changed, or is that of another image',
    async (kind) => {
      const original = readFileSync(file(`${kind}.json`))
      const statement = release.readStatement(`${name}.${kind}.json`)
      release.writeStatement(`${name}.${kind}.json`, {
        ...statement,
        predicate: { ...statement.predicate, version: 2 },
      })
      expect(await release.verify(name)).toEqual([expect.stringContaining('signatures do not match')])
      copyFileSync(join(release.folder, `db.${kind}.json`), file(`${kind}.json`))
      expect(await release.verify(name)).toEqual([expect.stringContaining('no matching subject digest')])
      writeFileSync(file(`${kind}.json`), original)
    },
  )

  it('is refused with the key of another person', async () => {
    await release.makeKeys()
    expect(await release.verify(name)).toHaveLength(3)
  })
})
