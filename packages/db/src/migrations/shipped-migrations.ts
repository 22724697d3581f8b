import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** `prisma/` of this package: the same distance from `src/` and from `dist/`. */
const prismaFolder = new URL('../../prisma/', import.meta.url)

export const schemaPath = fileURLToPath(new URL('schema.prisma', prismaFolder))
export const migrationsPath = fileURLToPath(new URL('migrations/', prismaFolder))

export interface ShippedMigration {
  /** Folder name, e.g. `20261121000000_foundation`. */
  name: string
  sql: string
}

/** Names of the migrations this version ships, oldest first. */
export async function listShippedMigrationNames(): Promise<string[]> {
  const entries = await readdir(migrationsPath, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
}

/** The migrations this version ships, oldest first, with their SQL. */
export async function listShippedMigrations(): Promise<ShippedMigration[]> {
  const names = await listShippedMigrationNames()
  return Promise.all(
    names.map(async (name) => ({
      name,
      sql: await readFile(`${migrationsPath}${name}/migration.sql`, 'utf8'),
    })),
  )
}
