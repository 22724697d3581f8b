import { createDatabase } from '@switchyard/db'
import { createServiceContext } from '@switchyard/service-kit/lifecycle'
import { createTestDatabase, createToken, createUser, startTestRedis } from '@switchyard/testing'
import { configSchema } from '../src/config.js'
import { createService } from '../src/service.js'

/** Starts the service on its own database and Redis, with an administrator and a normal user. */
export async function startHarness() {
  const testDatabase = await createTestDatabase()
  const testRedis = await startTestRedis()
  const database = createDatabase({ url: testDatabase.url, poolSizeMax: 2, applicationName: 'test' })
  const environment = {
    DATABASE_URL: testDatabase.urlOf('admin-broadcast'),
    REDIS_URL: testRedis.urlOf('admin-broadcast'),
    PORT: '0',
    RATE_LIMIT_PER_MINUTE: '0',
    SHUTDOWN_TIMEOUT_MS: '5000',
  }

  /** Starts another replica of the service. */
  async function startReplica(overrides: Record<string, string> = {}) {
    const context = createServiceContext('admin-broadcast', 'silent')
    const { port } = await createService(configSchema.parse({ ...environment, ...overrides }), context)
    return { baseUrl: `http://127.0.0.1:${port}`, close: () => context.lifecycle.close() }
  }

  const first = await startReplica()
  const admin = await createToken(database, await createUser(database, { admin: true }))
  const reader = await createToken(database, await createUser(database, { admin: true }), {
    scopes: ['read_api'],
  })
  const user = await createToken(database, await createUser(database))
  const tokens = { admin: admin.secret, reader: reader.secret, user: user.secret, unknown: 'glpat-unknown' }

  return {
    baseUrl: first.baseUrl,
    database,
    testRedis,
    environment,
    tokens,
    startReplica,
    /** Sends a request as one of the callers; `guest` sends no token. */
    send(who: keyof typeof tokens | 'guest', method: string, path: string, init: RequestInit = {}) {
      const headers = new Headers(init.headers)
      if (who !== 'guest') headers.set('PRIVATE-TOKEN', tokens[who])
      return fetch(`${first.baseUrl}/api/v4${path}`, { ...init, method, headers })
    },
    async close() {
      await first.close()
      await testRedis.stop()
      await database.close()
      await testDatabase.close()
    },
  }
}

export const json = (value: unknown): RequestInit => ({
  body: JSON.stringify(value),
  headers: { 'Content-Type': 'application/json' },
})

export const form = (fields: Record<string, string>): RequestInit => ({ body: new URLSearchParams(fields) })

export function multipart(fields: Record<string, string>): RequestInit {
  const body = new FormData()
  for (const [name, value] of Object.entries(fields)) body.set(name, value)
  return { body }
}
