import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase } from '@switchyard/db'
import type { Scope } from '@switchyard/domain/access'
import { createServiceContext } from '@switchyard/service-kit/lifecycle'
import { createTestDatabase, createToken, createUser, waitFor } from '@switchyard/testing'
import { configSchema } from '../src/config.js'
import { createService } from '../src/service.js'

/** An address without a server: background jobs are dropped, which no request may notice. */
const absentRedis = 'redis://127.0.0.1:1'

export interface HarnessOptions {
  redisUrl?: string
  /** Further environment variables. */
  env?: Record<string, string>
}

/** Starts the service on its own database and storage root, with users of every kind. */
export async function startHarness({ redisUrl = absentRedis, env = {} }: HarnessOptions = {}) {
  const testDatabase = await createTestDatabase()
  const database = createDatabase({ url: testDatabase.url, poolSizeMax: 4, applicationName: 'test' })
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-git-api-'))
  const storageRoot = join(folder, 'repositories')
  const contexts: ReturnType<typeof createServiceContext>[] = []

  /** Starts another instance of the service on the same database and storage. */
  async function start(further: Record<string, string> = {}) {
    const context = createServiceContext('git-api', 'silent')
    contexts.push(context)
    const config = configSchema.parse({
      DATABASE_URL: testDatabase.urlOf('git-api'),
      DATABASE_POOL_SIZE_MAX: '5',
      REDIS_URL: redisUrl,
      SWITCHYARD_STORAGE_ROOT: storageRoot,
      SWITCHYARD_REVISION: '0123456789abcdef0123456789abcdef01234567',
      SWITCHYARD_REVISION_TIME: '2026-01-31T13:00:00+01:00',
      SHUTDOWN_TIMEOUT_MS: '2000',
      PORT: '0',
      RATE_LIMIT_PER_MINUTE: '0',
      ...env,
      ...further,
    })
    const { port } = await createService(config, context)
    const baseUrl = `http://127.0.0.1:${port}`
    await waitFor(async () => (await fetch(`${baseUrl}/-/readiness`)).ok, { what: 'git-api to be ready' })
    return baseUrl
  }

  const baseUrl = await start()
  const users = {
    admin: await createUser(database, { username: 'admin-user', admin: true }),
    owner: await createUser(database, { username: 'Owner' }),
    user: await createUser(database, { username: 'ordinary' }),
  }
  const secretOf = async (user: { id: number }, scopes: Scope[] = ['api']) =>
    (await createToken(database, user, { scopes })).secret
  const tokens = {
    admin: await secretOf(users.admin),
    owner: await secretOf(users.owner),
    user: await secretOf(users.user),
    ownerReading: await secretOf(users.owner, ['read_api']),
    ownerRepository: await secretOf(users.owner, ['read_repository']),
    unknown: 'glpat-unknown',
  }

  return {
    baseUrl,
    database,
    databaseUrl: testDatabase.url,
    folder,
    storageRoot,
    users,
    tokens,
    start,
    secretOf,
    /** Sends a request as one of the callers, or with a secret; `guest` sends no token. */
    send(who: string, method: string, path: string, init: RequestInit = {}, base = baseUrl) {
      const headers = new Headers(init.headers)
      const secret = who in tokens ? tokens[who as keyof typeof tokens] : who
      if (who !== 'guest') headers.set('PRIVATE-TOKEN', secret)
      return fetch(`${base}/api/v4${path}`, { ...init, method, headers })
    },
    async close() {
      for (const context of contexts) await context.lifecycle.close()
      await database.close()
      await testDatabase.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export type Harness = Awaited<ReturnType<typeof startHarness>>

export const json = (value: unknown): RequestInit => ({
  body: JSON.stringify(value),
  headers: { 'Content-Type': 'application/json' },
})

export const form = (fields: Record<string, string>): RequestInit => ({ body: new URLSearchParams(fields) })

/** Returns status and body of an answer, without the request id of errors. */
export async function outcome<Body extends object = Record<string, unknown>>(
  response: Response | Promise<Response>,
): Promise<{ status: number; body: Body | null }> {
  const answer = await response
  const text = await answer.text()
  const body: Body | null = text === '' ? null : JSON.parse(text)
  if (body !== null && typeof body === 'object' && 'request_id' in body) {
    if (!body.request_id) throw new Error('an error without a request id')
    delete body.request_id
  }
  return { status: answer.status, body }
}
