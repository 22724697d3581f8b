import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createScratchDatabase, type ScratchDatabase } from '../scripts/scratch-database.js'
import { applyMigrations, listShippedMigrations } from '../src/migrations/index.js'
import { applyRoles, databaseServices, derivePasswords, roleOf, serviceUrl } from '../src/roles/index.js'

const ordinary = `owner_${randomBytes(6).toString('hex')}`
let scratch: ScratchDatabase
let admin: pg.Client
let url: string

beforeAll(async () => {
  scratch = await createScratchDatabase()
  admin = new pg.Client({ connectionString: process.env.SWITCHYARD_TEST_DATABASE_URL })
  await admin.connect()
  const database = new URL(scratch.url).pathname.slice(1)
  await admin.query(`CREATE ROLE ${ordinary} LOGIN CREATEROLE PASSWORD 'secret'`)
  await admin.query(`ALTER DATABASE ${database} OWNER TO ${ordinary}`)
  const ownUrl = new URL(scratch.url)
  ownUrl.username = ordinary
  ownUrl.password = 'secret'
  url = ownUrl.href
})

afterAll(async () => {
  await scratch.drop()
  await admin.query(`DROP ROLE ${ordinary}`)
  await admin.end()
})

test('the owner of a database migrates it and creates the roles of the services without being a superuser', async () => {
  const { migrations } = await applyMigrations(url)
  expect(migrations).toEqual((await listShippedMigrations()).map(({ name }) => name))
  // The roles of this server exist already, so this owner may only administer them when that right is
  // granted.
  const passwords = derivePasswords(new URL(scratch.url).password)
  for (const service of databaseServices) {
    await admin.query(
      `DO $$ BEGIN CREATE ROLE ${roleOf(service)}; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`,
    )
    await admin.query(`GRANT ${roleOf(service)} TO ${ordinary} WITH ADMIN OPTION`)
  }
  await applyRoles(url, passwords)
  const client = new pg.Client({ connectionString: serviceUrl(scratch.url, 'git-api', passwords['git-api']) })
  await client.connect()
  expect((await client.query('SELECT id FROM projects')).rows).toEqual([])
  await client.end()
})
