import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServiceContext } from '@switchyard/service-kit/lifecycle'
import { createTestDatabase, type TestDatabase, waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { configSchema } from '../../src/config.js'
import { createService } from '../../src/service.js'

const rootToken = 'root-token-of-the-tests-0123456789'
const context = createServiceContext('git-api', 'silent')
let testDatabase: TestDatabase
let folder: string
let proxy: ReturnType<typeof createServer>
let baseUrl: string

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'switchyard-lost-commit-'))
  const url = new URL(testDatabase.urlOf('git-api'))
  const [host, port] = [url.hostname, Number(url.port)]
  proxy = createServer((client) => passOn(client, connect(port, host))).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  url.port = String((proxy.address() as AddressInfo).port)
  url.hostname = '127.0.0.1'
  const config = configSchema.parse({
    DATABASE_URL: url.href,
    REDIS_URL: 'redis://127.0.0.1:1',
    SWITCHYARD_STORAGE_ROOT: join(folder, 'repositories'),
    SWITCHYARD_ROOT_TOKEN: rootToken,
    PORT: '0',
  })
  baseUrl = `http://127.0.0.1:${(await createService(config, context)).port}`
  await waitFor(async () => (await fetch(`${baseUrl}/-/readiness`)).ok, { what: 'git-api' })
})
afterAll(async () => {
  await context.lifecycle.close()
  proxy?.close()
  await testDatabase?.close()
  if (folder) await rm(folder, { recursive: true, force: true })
})

/**
 * Passes data on. The COMMIT of a connection that has stored a project reaches PostgreSQL, but its
 * confirmation is dropped.
 */
function passOn(client: Socket, server: Socket): void {
  let hasStored = false
  let isCut = false
  client.on('data', (bytes) => {
    server.write(bytes)
    hasStored ||= bytes.includes('INSERT INTO "public"."projects"')
    isCut = hasStored && bytes.includes('COMMIT')
  })
  server.on('data', (bytes) => {
    if (isCut) client.destroy()
    else client.write(bytes)
  })
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.on('error', () => {})
    one.on('close', () => other.destroy())
  }
}

const headers = { 'PRIVATE-TOKEN': rootToken, 'Content-Type': 'application/json' }
const send = (method: string, path: string, body?: object) =>
  fetch(`${baseUrl}/api/v4${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })

test('a project whose creation was committed without a confirmation is usable', async () => {
  expect((await send('POST', '/projects', { name: 'kept' })).status).toBe(503)
  const found = await send('GET', '/projects/root%2Fkept')
  expect(found.status).toBe(200)
  const actions = [{ action: 'create', file_path: 'a', content: 'a' }]
  const commit = { branch: 'main', commit_message: 'Add a', actions }
  expect((await send('POST', '/projects/root%2Fkept/repository/commits', commit)).status).toBe(201)
})
