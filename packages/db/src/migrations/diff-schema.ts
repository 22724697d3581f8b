import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { noFilters, withSchemaEngine } from './schema-engine.js'
import { schemaPath } from './shipped-migrations.js'

/**
 * Returns the SQL that changes the database at `url` to the schema of `schema.prisma`; empty when they agree.
 * Partitions do not count as a difference.
 */
export async function diffDatabaseToSchema(url: string): Promise<string> {
  const schema = { path: schemaPath, content: await readFile(schemaPath, 'utf8') }
  return withSchemaEngine(url, async (engine) => {
    const { stdout } = await engine.diff({
      // The database of the engine's connection.
      from: { tag: 'schemaDatasource', files: [schema], configDir: dirname(schemaPath) },
      to: { tag: 'schemaDatamodel', files: [schema] },
      script: true,
      exitCode: true,
      filters: { ...noFilters, externalTables: ['public._prisma_migrations'] },
    })
    const sql = stdout?.trim() ?? ''
    return /^-- This is an empty migration\.?$/.test(sql) ? '' : sql
  })
}
