import { randomBytes } from 'node:crypto'
import { createDatabase, type Database } from '@switchyard/db'
import { createServiceContext } from '@switchyard/service-kit/lifecycle'
import { createTestDatabase, createToken, createUser } from '@switchyard/testing'
import { configSchema } from '../src/config.js'
import { createService } from '../src/service.js'
import { connect } from './grpc-client.js'

export const webhookSecretKeys = randomBytes(32).toString('base64')

/** Starts one instance of the service in this process; `env` may replace the address of its database. */
export async function startService(databaseUrl: string, env: Record<string, string> = {}) {
  const context = createServiceContext('saga-reporter', 'silent')
  const config = configSchema.parse({
    DATABASE_URL: databaseUrl,
    PORT: '0',
    GRPC_PORT: '0',
    RATE_LIMIT_PER_MINUTE: '0',
    SHUTDOWN_TIMEOUT_MS: '1000',
    WEBHOOK_SECRET_KEYS: webhookSecretKeys,
    ...env,
  })
  const { port, grpcPort } = await createService(config, context)
  const grpc = connect(grpcPort)
  return {
    ...context,
    port,
    grpcPort,
    grpc,
    baseUrl: `http://127.0.0.1:${port}`,
    async close() {
      grpc.close()
      await context.lifecycle.close()
    },
  }
}

/** Starts the service on its own database. */
export async function startHarness(env: Record<string, string> = {}) {
  const testDatabase = await createTestDatabase()
  const database = createDatabase({ url: testDatabase.url, poolSizeMax: 2, applicationName: 'test' })
  const service = await startService(testDatabase.urlOf('saga-reporter'), env)
  return {
    ...service,
    database,
    /** Connects as the owner of the schema. */
    databaseUrl: testDatabase.url,
    /** Connects as the role of the service. */
    serviceUrl: testDatabase.urlOf('saga-reporter'),
    async close() {
      await service.close()
      await database.close()
      await testDatabase.close()
    },
  }
}

/** Creates tokens of an administrator, of a user with only `scopes`, and of a user with the whole API. */
export async function createTokens(database: Database) {
  const user = await createUser(database)
  const secretOf = async (owner: typeof user, scopes: Parameters<typeof createToken>[2]) =>
    (await createToken(database, owner, scopes)).secret
  return {
    administrator: await secretOf(await createUser(database, { admin: true }), {}),
    reader: await secretOf(user, { scopes: ['read_sagas'] }),
    reporter: await secretOf(user, { scopes: ['saga_report'] }),
    user: await secretOf(user, {}),
    unknown: 'glpat-unknown',
  }
}
