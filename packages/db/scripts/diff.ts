// Writes prisma/migrations/<time>_<name>/migration.sql with the SQL that leads from the migrations to the
// schema.
import { mkdir, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { diffDatabaseToSchema } from '../src/migrations/index.js'
import { migrationsPath } from '../src/migrations/shipped-migrations.js'
import { withMigratedScratchDatabase } from './scratch-database.js'

async function writeNextMigration(name: string | undefined): Promise<string> {
  if (!name || !/^[a-z][a-z0-9_]*$/.test(name)) {
    throw new Error('usage: pnpm generate migration NAME, with a name like add_project_topics')
  }
  const sql = await withMigratedScratchDatabase(diffDatabaseToSchema)
  if (sql === '') return 'migrations and schema agree: nothing to write'
  const timestamp = new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14)
  const folder = join(migrationsPath, `${timestamp}_${name}`)
  await mkdir(folder)
  const path = join(folder, 'migration.sql')
  await writeFile(path, `${sql}\n`)
  return `wrote ${relative(process.cwd(), path)}: read it, and make it say what you mean, before you commit it`
}

try {
  process.stdout.write(`${await writeNextMigration(parseArgs({ allowPositionals: true }).positionals[0])}\n`)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
