import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'

// Resolved by package name, because a bundled service has no folder beside this module.
export const schemaPath = createRequire(import.meta.url).resolve('@switchyard/db/prisma/schema.prisma')
export const migrationsPath = `${dirname(schemaPath)}/migrations/`

export interface ShippedMigration {
  /** Folder name, e.g. `20261206000000_project_topics`. */
  name: string
  sql: string
}

/** Lists the names of the migrations of this version, oldest first. */
export async function listShippedMigrationNames(): Promise<string[]> {
  const entries = await readdir(migrationsPath, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
}

/** Lists the migrations of this version with their SQL, oldest first. */
export async function listShippedMigrations(): Promise<ShippedMigration[]> {
  const names = await listShippedMigrationNames()
  return Promise.all(
    names.map(async (name) => ({
      name,
      sql: await readFile(`${migrationsPath}${name}/migration.sql`, 'utf8'),
    })),
  )
}
