import type { Pool } from 'pg'

/** Number of sagas in the table. */
export const sagaCount = Number(process.env.SAGAS ?? 5_000_000)

/** Id of the saga that is read alone; it has twenty activities with payloads. */
export const detailedSaga = 'saga-with-20-activities'

// Sagas of the last 90 days, the newest last. Numbers are multiplied by primes, so that no property
// correlates with another or with age.
const sagas = `INSERT INTO sagas
    (tenant, id, service_name, status, outcome, started_at, ended_at, late, first_seen_at, last_event_at)
  SELECT 'default', md5(n::text), 'service-' || least(n * 7919 % 100, n * 104729 % 50), status,
    CASE WHEN status = 'Ended' THEN
      CASE WHEN n * 15485863 % 1000 < 930 THEN 'succeeded' WHEN n * 15485863 % 1000 < 990 THEN 'compensated'
        WHEN n * 15485863 % 1000 < 998 THEN 'empty' ELSE 'inconsistent' END END,
    at, CASE WHEN status = 'Ended' THEN ended END, n * 32452843 % 2000 = 0, at,
    CASE WHEN status = 'Ended' THEN ended ELSE at + interval '3 seconds' END
  FROM (SELECT n, now() - interval '90 days' * (1 - n::float8 / $1) AS at,
      now() - interval '90 days' * (1 - n::float8 / $1) + interval '1 ms' * (500 + n * 49979687 % 60000) AS ended,
      CASE WHEN n * 86028121 % 1000 < 960 THEN 'Ended' WHEN n * 86028121 % 1000 < 990 THEN 'Started'
        WHEN n * 86028121 % 1000 < 994 THEN 'Error' WHEN n * 86028121 % 1000 < 997 THEN 'Overtime' ELSE 'Pending' END
        AS status
    FROM generate_series(1::bigint, $1) AS n) AS made`

/** One saga in twenty has three activities; in half of those, the last one failed. */
const activities = `INSERT INTO saga_activities
    (tenant, id, saga_id, "order", status, first_seen_at, last_event_at, started_at, ended_at, aborted_at,
     execute_errors, error_fingerprint, parameter_data)
  SELECT 'default', md5(n::text) || '-' || step, md5(n::text), step,
    CASE WHEN failed THEN 'ExecuteAborted' ELSE 'Executed' END, at, at + interval '1 second', at,
    CASE WHEN NOT failed THEN at + interval '1 second' END, CASE WHEN failed THEN at + interval '1 second' END,
    CASE WHEN failed THEN errors END, CASE WHEN failed THEN md5(left(errors, 12)) END,
    convert_to('{"order": ' || n || ', "seats": ["14A", "14B"], "note": "' || repeat('x', 120) || '"}', 'UTF8')
  FROM (SELECT n, step, s.first_seen_at AS at, step = 2 AND n % 40 = 0 AS failed,
      CASE WHEN n / 40 * 7919 % 100 < 70 THEN 'connect ECONNREFUSED 10.0.' || n % 256 || '.7:5432 while booking order ' || n
        WHEN n / 40 * 7919 % 100 < 98 THEN 'seat ' || n % 500 || ' of flight LH' || n % 900 || ' is taken'
        WHEN n / 40 * 7919 % 100 < 99 THEN 'card of customer ' || n || ' was declined by the issuer'
        ELSE 'unexpected token in answer ' || md5(n::text) END AS errors
    FROM generate_series(20::bigint, $1, 20) AS n
    JOIN sagas s ON s.tenant = 'default' AND s.id = md5(n::text), generate_series(0, 2) AS step) AS made`

const errors = `INSERT INTO saga_errors
    (tenant, activity_id, saga_id, first_seen_at, failed_at, fingerprint, text, folded)
  SELECT a.tenant, a.id, a.saga_id, s.first_seen_at, a.last_event_at, COALESCE(a.error_fingerprint, md5(a.execute_errors)),
    a.execute_errors, lower(a.execute_errors)
  FROM saga_activities a JOIN sagas s ON s.tenant = a.tenant AND s.id = a.saga_id
  WHERE a.execute_errors IS NOT NULL`

const flags = `INSERT INTO saga_flags (tenant, kind, saga_id, activity_id, since, first_seen_at)
  SELECT 'default', kind, s.id, '', s.first_seen_at + interval '1 hour', s.first_seen_at
  FROM (VALUES ('stuck', 100), ('settled', 50), ('overdue', 1000), ('parked', 5000), ('inconsistent', 400))
    AS kinds(kind, every),
    generate_series(1::bigint, $1) AS n JOIN sagas s ON s.tenant = 'default' AND s.id = md5(n::text)
  WHERE n % every = 3`

/** A tag that every tenth saga has, and a unique one. */
const tags = `INSERT INTO saga_tags (tenant, saga_id, tag, first_seen_at)
  SELECT s.tenant, s.id, tag, s.first_seen_at
  FROM generate_series(10::bigint, $1, 10) AS n JOIN sagas s ON s.tenant = 'default' AND s.id = md5(n::text),
    unnest(ARRAY['region=eu', 'order=' || n]) AS tag`

/** A hundred further tenants with a hundred sagas each. */
const tenants = `INSERT INTO sagas
    (tenant, id, service_name, status, outcome, started_at, ended_at, first_seen_at, last_event_at)
  SELECT 'tenant-' || tenant, md5(n || ' ' || tenant), 'service-1', 'Ended', 'succeeded', at, at, at, at
  FROM generate_series(1, 100) AS tenant, generate_series(1, 100) AS n,
    LATERAL (SELECT now() - interval '1 hour' * n AS at) AS times`

const detailed = `INSERT INTO sagas
    (tenant, id, service_name, status, outcome, started_at, ended_at, first_seen_at, last_event_at)
  VALUES ('default', $1, 'booking', 'Ended', 'succeeded', now() - interval '1 minute', now(),
    now() - interval '1 minute', now())`

const detailedActivities = `INSERT INTO saga_activities
    (tenant, id, saga_id, "order", status, first_seen_at, last_event_at, started_at, ended_at, execute_attempts,
     execute_errors, parameter_data, result_data)
  SELECT 'default', $1 || '-' || n, $1, n, 'Executed', now() - interval '1 minute', now(), now() - interval '1 minute',
    now(), n % 3, CASE WHEN n % 5 = 0 THEN 'connect ECONNREFUSED 10.0.0.7:5432, then it worked' END,
    convert_to('{"order": ' || n || ', "note": "' || repeat('x', 200) || '"}', 'UTF8'),
    convert_to('{"ok": true, "note": "' || repeat('y', 200) || '"}', 'UTF8')
  FROM generate_series(0, 19) AS n`

/**
 * Fills an empty, migrated database. Indexes are created after the rows, which takes a fraction of the time.
 */
export async function fill(
  { pool }: { pool: Pool },
  log: (line: string) => void,
  count = sagaCount,
): Promise<void> {
  const timed = async (name: string, work: () => Promise<unknown>) => {
    const startedMs = performance.now()
    await work()
    log(`${name}: ${Math.round((performance.now() - startedMs) / 1000)} s`)
  }
  await pool.query("ALTER SYSTEM SET max_wal_size = '8GB'")
  await pool.query('SELECT pg_reload_conf()')
  await timed('sagas', () => withoutIndexes(pool, 'sagas', () => pool.query(sagas, [count])))
  await pool.query('ANALYZE sagas')
  await timed('activities', () => pool.query(activities, [count]))
  await timed('flags', () => pool.query(flags, [count]))
  await timed('tags', () => pool.query(tags, [count]))
  await pool.query(tenants)
  await pool.query(detailed, [detailedSaga])
  await pool.query(detailedActivities, [detailedSaga])
  await timed('errors', () => pool.query(errors))
  await timed('vacuum', () => pool.query('VACUUM ANALYZE'))
}

/**
 * Reads tables and indexes of sagas once, so that the system has them in memory, as for a database in use;
 * otherwise random reads would measure the disk.
 */
export async function warm({ pool }: { pool: Pool }): Promise<void> {
  await pool.query('CREATE EXTENSION IF NOT EXISTS pg_prewarm')
  await pool.query(`SELECT pg_prewarm(oid, 'read') FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relname LIKE 'saga%' AND relkind IN ('r', 'i')`)
}

async function withoutIndexes(pool: Pool, table: string, work: () => Promise<unknown>): Promise<void> {
  const { rows } = await pool.query<{ name: string; sql: string }>(
    `SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS sql
      FROM pg_index i WHERE i.indrelid = $1::regclass AND NOT i.indisprimary`,
    [table],
  )
  for (const { name } of rows) await pool.query(`DROP INDEX ${name}`)
  await work()
  for (const { sql } of rows) await pool.query(`SET maintenance_work_mem = '512MB'; ${sql}`)
}
