import pg from 'pg'
import { expect, it } from 'vitest'
import { createScratchDatabase } from '../scripts/scratch-database.js'
import { applyMigrations } from '../src/migrations/index.js'
import { waitForMigrations } from '../src/migrations/wait-for-migrations.js'

it('waits for a role that does not exist yet and for the migration, reports both, and ends with the migration', async () => {
  const scratch = await createScratchDatabase()
  const admin = new pg.Client({ connectionString: scratch.url })
  await admin.connect()
  const role = `waiting_${process.pid}`
  const url = new URL(scratch.url)
  url.username = role
  url.password = 'of-the-role'
  const reasons: string[] = []
  try {
    const waiting = waitForMigrations(url.href, (reason) => reasons.push(reason))
    await expect.poll(() => reasons).toEqual(['database does not answer (28P01)'])
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'of-the-role'`)
    await expect.poll(() => reasons).toHaveLength(2)
    expect(reasons[1]).toMatch(/^migrations pending: /)
    await applyMigrations(scratch.url)
    await admin.query(`GRANT SELECT ON _prisma_migrations TO ${role}`)
    await waiting
    expect(reasons.join()).not.toContain('of-the-role')
  } finally {
    await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`).catch(() => {})
    await admin.end()
    await scratch.drop()
  }
})
