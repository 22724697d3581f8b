// Runs the integration tests of the previous release on databases with the migrations and roles of this
// checkout.
import { join } from 'node:path'
import { execa } from 'execa'
import { applyMigrations, prepareLogins } from '../../packages/local-servers/src/start/schema.js'
import { toolsFolder } from '../../packages/local-servers/src/tools/tools-folder.js'
import { withInfra } from '../../packages/local-servers/src/with-infra.js'
import { queryAll } from '../support/query-all.js'
import { before, root } from './installation.js'

/**
 * Tests of every endpoint, reports of sagas, the jobs of the worker, webhooks. All tests of the services
 * would take ten minutes. Tests of packages/db prove nothing here, because they create their databases only
 * from their own migrations.
 */
const files = ['test/openapi.test.ts', 'saga-reporter/test/report', 'packages/webhooks/test/']
/**
 * One file after the other, because the worker of older releases waits for the transactions of every database of
 * the server before it reads the log.
 */
const inTurn = ['services/worker/test/', '--no-file-parallelism']
/** Any test with a database, because it creates the template of all databases. */
const first = 'services/admin-broadcast/test/active-messages.test.ts'

const runTests = async (env: NodeJS.ProcessEnv, ...args: string[]) => {
  const vitest = join(before, 'node_modules', 'vitest', 'vitest.mjs')
  const command = [vitest, 'run', '--project', 'integration', ...args]
  const { exitCode = 1 } = await execa(process.execPath, command, {
    cwd: before,
    env,
    stdio: 'inherit',
    reject: false,
  })
  return exitCode
}

/** Migrates the template of the test databases to the schema of this checkout. */
async function upgradeTemplate(adminUrl: string): Promise<void> {
  const names = await queryAll(
    adminUrl,
    `SELECT datname AS name FROM pg_database WHERE datname ~ '^switchyard_template_[0-9a-f]+$'`,
  )
  const [template] = names.map(({ name }) => String(name))
  if (template === undefined || names.length > 1)
    throw new Error(`${names.length} templates of test databases`)
  const url = new URL(adminUrl)
  url.pathname = `/${template}`
  await queryAll(adminUrl, `ALTER DATABASE ${template} WITH ALLOW_CONNECTIONS true`)
  await applyMigrations(root, url.href)
  await prepareLogins({ url: url.href, embedded: true, stop: async () => {}, kill: () => {} })
  // A database with open connections cannot be copied.
  await queryAll(adminUrl, `ALTER DATABASE ${template} WITH ALLOW_CONNECTIONS false`)
}

process.exitCode = await withInfra(toolsFolder(root), async (env) => {
  const code = await runTests(env, first)
  if (code !== 0) return code
  await upgradeTemplate(env.SWITCHYARD_TEST_DATABASE_URL ?? '')
  const codes = [await runTests(env, ...files), await runTests(env, ...inTurn)]
  return Math.max(...codes)
})
