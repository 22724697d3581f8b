import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitFor } from '@switchyard/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { olderNodeEnvironment, olderNodeVersion } from '../support/older-node.js'
import { isRunning, listDescendants } from '../support/processes.js'
import { spawnStart, startTree, type Tree } from '../support/tree.js'

/** The services that check tokens in the database. */
const databaseServices = ['git-api', 'admin-broadcast', 'jobqueue-metrics', 'saga-reporter', 'worker']
const services = [...databaseServices, 'console']
const dataDir = mkdtempSync(join(tmpdir(), 'switchyard-e2e-'))
let tree: Tree

const api = (path: string, init: RequestInit = {}) =>
  fetch(`${tree.url}/api/v4/${path}`, { ...init, headers: { 'PRIVATE-TOKEN': tree.rootToken } })

const isReady = async (service: string) =>
  (await fetch(`${tree.url}/-/${service}/readiness`).catch(() => null))?.status === 200

const everythingIsReady = async () => (await Promise.all(services.map(isReady))).every(Boolean)

const children = () => listDescendants(tree.pid)
const childOf = (part: string) => children().find(({ command }) => command.includes(part))

afterAll(async () => {
  await tree?.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

describe('npm start', () => {
  it('starts every service with its data in the folder that SWITCHYARD_DATA names', async () => {
    tree = await startTree({ dataDir, env: await olderNodeEnvironment() })
    expect(await everythingIsReady()).toBe(true)
    expect(existsSync(join(dataDir, 'postgres', 'cluster', 'PG_VERSION'))).toBe(true)
    expect(statSync(join(dataDir, 'root-token')).mode & 0o777).toBe(0o600)
    expect((await api('projects?name=kept', { method: 'POST' })).status).toBe(201)
  })

  it('runs on Node 24 where the machine has an older version, and reports that in one line', async () => {
    expect(tree.output().match(/.*Node 24.*/g)).toEqual([
      expect.stringMatching(`runs on Node 24; this machine has ${olderNodeVersion}`),
    ])
    expect(await (await api('system')).json()).toMatchObject({
      node_version: expect.stringMatching(/^24\./),
    })
  })

  it('serves the files beside the modules of a service', async () => {
    for (const [path, part] of [
      ['broadcast_messages/banner.js', 'customElements'],
      ['docs/swagger-ui.css', '.swagger-ui'],
      ['openapi.json', '"openapi"'],
    ] as const) {
      const response = await api(path)
      expect([path, response.status]).toEqual([path, 200])
      expect(await response.text()).toContain(part)
    }
  })

  it('prints addresses and paths but no secret', () => {
    expect(tree.output()).toContain(`http://localhost:${tree.httpPort}`)
    expect(tree.output()).toContain('root-token')
    expect(tree.output()).not.toContain(tree.rootToken)
    expect(tree.output()).not.toContain('postgresql://')
  })

  it('exports metrics of every service to the administrator, and to nobody without a token', async () => {
    expect((await fetch(`${tree.url}/-/console/metrics`)).status).toBe(404)
    for (const service of databaseServices) {
      const url = `${tree.url}/-/${service}/metrics`
      expect([service, (await fetch(url)).status]).toEqual([service, 401])
      const response = await fetch(url, { headers: { 'PRIVATE-TOKEN': tree.rootToken } })
      expect([service, response.status]).toEqual([service, 200])
      expect(await response.text()).toContain('# HELP')
    }
  })

  it.runIf(process.platform === 'linux')(
    'lets each service log in to PostgreSQL as its own role',
    async () => {
      const environments = databaseServices.map((service) => {
        const { pid = 0 } = childOf(`services/${service}/`) ?? {}
        return readFileSync(`/proc/${pid}/environ`, 'utf8')
      })
      for (const [index, environment] of environments.entries()) {
        const role = `switchyard_${databaseServices[index]?.replaceAll('-', '_')}`
        expect(environment).toContain(`DATABASE_URL=postgresql://${role}:`)
        expect(environment).not.toContain('postgresql://postgres:')
      }
    },
  )

  it('refuses a second start on the same data, and names the solution', async () => {
    const second = spawnStart({ SWITCHYARD_DATA: dataDir, PORT: '1', GRPC_PORT: '2' })
    expect((await second.exited).code).toBe(1)
    expect(second.output()).toMatch(/^✗ Switchyard already runs on .*SWITCHYARD_DATA/m)
    expect(await everythingIsReady()).toBe(true)
  })
})

describe('a child that is killed', () => {
  const victims = services.map((name) => [name, `services/${name}/dist/bundle/main.js`])

  it.each([...victims, ['redis', 'redis.sock'], ['postgresql', 'postgres/cluster']])(
    '%s is started again, and the output says so',
    async (name, part) => {
      const victim = childOf(part)
      process.kill(victim?.pid ?? 0, 'SIGKILL')
      await waitFor(() => (childOf(part)?.pid ?? victim?.pid) !== victim?.pid, {
        what: `${name} as a new process`,
        intervalMs: 100,
      })
      await waitFor(everythingIsReady, { what: 'everything to be ready', intervalMs: 100 })
      expect(tree.output()).toMatch(new RegExp(`${name} was ended by SIGKILL; starting again in .* s`))
    },
  )

  it('that no longer answers is ended and started again, and the output reports it', async () => {
    const victim = childOf('services/admin-broadcast/')
    process.kill(victim?.pid ?? 0, 'SIGSTOP')
    const restarted = () => (childOf('services/admin-broadcast/')?.pid ?? victim?.pid) !== victim?.pid
    await waitFor(restarted, { what: 'admin-broadcast as a new process', intervalMs: 100 })
    await waitFor(everythingIsReady, { what: 'everything to be ready', intervalMs: 100 })
    expect(tree.output()).toMatch(/admin-broadcast no longer answers and is ended/)
    expect(tree.output()).toMatch(/admin-broadcast was ended by SIGKILL; starting again/)
  })

  it('loses no data', async () => {
    expect(await (await api('projects?search=kept')).json()).toMatchObject([{ name: 'kept' }])
  })
})

describe('a stop', () => {
  it('leaves no process behind', async () => {
    const before = children()
    expect(before.length).toBeGreaterThanOrEqual(7)
    await tree.stop()
    expect(before.filter(({ pid }) => isRunning(pid))).toEqual([])
  })

  it('keeps the data for the next start', async () => {
    tree = await startTree({ dataDir })
    expect(await (await api('projects?search=kept')).json()).toMatchObject([{ name: 'kept' }])
  })

  it('by kill -9 leaves nothing that prevents the next start', async () => {
    const before = children()
    process.kill(tree.pid, 'SIGKILL')
    tree = await startTree({ dataDir })
    expect(await everythingIsReady()).toBe(true)
    expect(before.filter(({ pid }) => isRunning(pid))).toEqual([])
    expect(await (await api('projects?search=kept')).json()).toMatchObject([{ name: 'kept' }])
  })
})
