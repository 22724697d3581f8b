import {
  type AuditExport,
  type Database,
  findOldestWaiting,
  listAuditExports,
  readRowsWithin,
} from '@switchyard/db'

export interface DatabaseMetrics {
  /** Version of PostgreSQL. */
  version: string
  sizeBytes: number
  /** Connections to this database, of every service and of other clients. */
  connections: number
  connectionsMax: number
  /** Number of users without the bots of project tokens. */
  users: number
  projects: number
  /** The largest tables first, each with its partitions, indexes and long values. */
  tables: TableMetrics[]
}

interface TableMetrics {
  name: string
  sizeBytes: number
  /** PostgreSQL's estimate. */
  rowsEstimate: number
}

const timeoutMs = 2_000
const tablesMax = 10
const statement = `
  WITH sized AS (
    SELECT coalesce(pg_partition_root(oid), oid)::regclass AS name, sum(pg_total_relation_size(oid)) AS bytes,
      sum(greatest(reltuples, pg_stat_get_live_tuples(oid))) AS rows
    FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
    GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${tablesMax})
  SELECT current_setting('server_version') AS version, pg_database_size(current_database())::text AS size,
    (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database())::int AS connections,
    current_setting('max_connections')::int AS "connectionsMax",
    (SELECT count(*) FROM users WHERE NOT bot)::int AS users,
    (SELECT count(*) FROM projects)::int AS projects,
    (SELECT coalesce(json_agg(json_build_object('name', name, 'sizeBytes', bytes, 'rowsEstimate', rows::bigint)
      ORDER BY bytes DESC, name), '[]') FROM sized) AS tables`

interface Row extends Omit<DatabaseMetrics, 'sizeBytes'> {
  /** A text, because the driver reads large integers as text. */
  size: string
}

/** Returns the size and use of the database; null when the query takes longer than two seconds. */
export async function readDatabaseMetrics(database: Database): Promise<DatabaseMetrics | null> {
  const query = { text: statement, query_timeout: 2 * timeoutMs }
  const [row] = (await readRowsWithin<Row>(database, timeoutMs, query)) ?? []
  if (!row) return null
  const { size, ...metrics } = row
  return { ...metrics, sizeBytes: Number(size) }
}

/**
 * A destination of the audit log, and the time of the oldest entry that it lacks; null: it has all entries.
 */
export type ExportState = AuditExport & { waitingSince: Date | null }

/** Reads how far the audit log has reached each destination, as the workers have stored it. */
export async function readAuditExports(database: Database): Promise<ExportState[]> {
  const exports = await listAuditExports(database)
  return Promise.all(
    exports.map(async (each) => ({
      ...each,
      waitingSince: await findOldestWaiting(database, each.position),
    })),
  )
}
