import { createHash, randomBytes } from 'node:crypto'
import { applyMigrations, listShippedMigrations } from '@switchyard/db/migrations'
import {
  applyRoles,
  type DatabaseService,
  derivePasswords,
  serviceUrl,
  tableAccess,
} from '@switchyard/db/roles'
import pg from 'pg'

export interface TestDatabase {
  /** URL for the owner of the schema. */
  url: string
  /** Returns the URL for the role of a service, which has only the rights of that service. */
  urlOf(service: DatabaseService): string
  /** Drops the database, even when connections are open. */
  close(): Promise<void>
}

/**
 * Creates a database with every migration applied, for one test file. It is a copy of a template database,
 * which is created once for each version of the migrations and rights. A copy takes milliseconds.
 *
 * @throws Error when SWITCHYARD_TEST_DATABASE_URL is not set
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `switchyard_test_${process.pid}_${randomBytes(5).toString('hex')}`
  await withAdminClient(async (admin) => {
    const template = await ensureTemplate(admin)
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}`)
  })
  const url = databaseUrl(name)
  return {
    url,
    urlOf: (service) => serviceUrl(url, service, passwords()[service]),
    close: () =>
      withAdminClient(async (admin) => {
        await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
      }),
  }
}

async function ensureTemplate(admin: pg.Client): Promise<string> {
  const template = `switchyard_template_${await hashSchema()}`
  // Test files run in several processes. The first one creates the template while the rest wait.
  await admin.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [template])
  try {
    const { rowCount } = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [template])
    if (rowCount === 0) await createTemplate(admin, template)
    return template
  } finally {
    await admin.query('SELECT pg_advisory_unlock(hashtextextended($1, 0))', [template])
  }
}

/**
 * Creates the template, which is renamed when it is complete, so that an interrupted run leaves no incomplete
 * template.
 */
async function createTemplate(admin: pg.Client, template: string): Promise<void> {
  const unfinished = `${template}_new`
  await admin.query(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`)
  await admin.query(`CREATE DATABASE ${unfinished}`)
  await applyMigrations(databaseUrl(unfinished))
  await applyRoles(databaseUrl(unfinished), passwords())
  // A database with open connections cannot be copied.
  await admin.query(`ALTER DATABASE ${unfinished} WITH ALLOW_CONNECTIONS false`)
  await admin.query(`ALTER DATABASE ${unfinished} RENAME TO ${template}`)
}

async function hashSchema(): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(tableAccess))
  for (const { name, sql } of await listShippedMigrations()) hash.update(`${name}\0${sql}\0`)
  return hash.digest('hex').slice(0, 16)
}

/** Returns the same passwords for every test, because roles belong to the whole server. */
const passwords = () => derivePasswords(new URL(adminUrl()).password)

async function withAdminClient<T>(work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: adminUrl(), connectionTimeoutMillis: 10_000 })
  await admin.connect()
  try {
    return await work(admin)
  } finally {
    await admin.end()
  }
}

function databaseUrl(name: string): string {
  const url = new URL(adminUrl())
  url.pathname = `/${name}`
  return url.href
}

function adminUrl(): string {
  const url = process.env.SWITCHYARD_TEST_DATABASE_URL
  if (url) return url
  throw new Error(
    'SWITCHYARD_TEST_DATABASE_URL is not set: run the tests with `npm test`, which starts PostgreSQL',
  )
}
