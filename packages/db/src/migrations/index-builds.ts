import type pg from 'pg'
import { lockTimeoutOf } from './lock-timeout.js'

/** Drops unfinished indexes that the migrations `sql` build CONCURRENTLY. */
export async function dropUnfinishedIndexes(client: pg.Client, sql: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.oid::regclass::text AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE NOT i.indisvalid AND c.relkind = 'i' AND c.relnamespace = 'public'::regnamespace
       AND strpos($1, c.relname) > 0`,
    [sql],
  )
  for (const { name } of rows) await runConcurrently(client, `DROP INDEX CONCURRENTLY ${name}`)
}

interface MissingIndex {
  parent: string
  definition: string
  partition: string
  /** Name of the built index of a partition that is not attached yet. */
  name: string
  isBuilt: boolean
  isValid: boolean
}

/**
 * Completes, CONCURRENTLY, the indexes that migrations have created ON ONLY a partitioned table, because
 * PostgreSQL has no single statement for that.
 */
export async function completePartitionedIndexes(client: pg.Client, lockTimeoutMs: number): Promise<void> {
  const { rows } = await client.query<MissingIndex>(
    `SELECT parent.oid::regclass::text AS parent, pg_get_indexdef(parent.oid) AS definition,
       p.inhrelid::regclass::text AS partition, quote_ident(names.name) AS name,
       child.indexrelid IS NOT NULL AS "isBuilt", COALESCE(child.indisvalid, false) AS "isValid"
     FROM pg_index i JOIN pg_class parent ON parent.oid = i.indexrelid JOIN pg_inherits p ON p.inhparent = i.indrelid
     CROSS JOIN LATERAL (SELECT 'part_' || md5(parent.relname || p.inhrelid::regclass) AS name) AS names
     LEFT JOIN pg_index child ON child.indexrelid = to_regclass(names.name)
     WHERE parent.relkind = 'I' AND NOT i.indisvalid AND parent.relnamespace = 'public'::regnamespace
       AND NOT EXISTS (SELECT FROM pg_inherits a JOIN pg_index b ON b.indexrelid = a.inhrelid
         WHERE a.inhparent = parent.oid AND b.indrelid = p.inhrelid)`,
  )
  for (const { parent, definition, partition, name, isBuilt, isValid } of rows) {
    if (isBuilt && !isValid) await runConcurrently(client, `DROP INDEX CONCURRENTLY ${name}`)
    const build = definition.replace(
      /^CREATE (UNIQUE )?INDEX .+? ON ONLY \S+ /,
      (_, unique = '') => `CREATE ${unique}INDEX CONCURRENTLY ${name} ON ${partition} `,
    )
    if (!isValid) await runConcurrently(client, build)
    await client.query(`SET lock_timeout = ${lockTimeoutMs}`)
    await client.query(`ALTER INDEX ${parent} ATTACH PARTITION ${name}`)
  }
}

async function runConcurrently(client: pg.Client, statement: string): Promise<void> {
  await client.query(`SET lock_timeout = ${lockTimeoutOf(statement, 0)}`)
  await client.query(statement)
}
