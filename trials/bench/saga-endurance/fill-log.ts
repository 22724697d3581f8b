import pg from 'pg'

/** Events of a saga, as many as in the happy trace, with three activities. */
const eventsOfSaga = 8
const sagasOfStatement = 10_000

const sagaIds = `'9' || lpad(n::text, 18, '0') AS saga_id`
const sagas = `INSERT INTO sagas (tenant, id, service_name, status, outcome, started_at, ended_at, first_seen_at,
    last_event_at, content_keys)
  SELECT 'default', saga_id, 'booking', 'Ended', 'succeeded', now(), now(), now(), now(), '\\x00112233445566778899aabbccddeeff'
  FROM (SELECT ${sagaIds} FROM generate_series($1::bigint, $2) AS n) AS made`
const activities = `INSERT INTO saga_activities (tenant, id, saga_id, "order", status, time_out_seconds, first_seen_at,
    last_event_at, started_at, ended_at, parameter_data, result_data, content_keys)
  SELECT 'default', saga_id || '-' || step, saga_id, step, 'Executed', 2, now(), now(), now(), now(),
    convert_to(repeat('x', 150), 'UTF8'), convert_to(repeat('x', 195), 'UTF8'), '\\x00112233445566778899aabbccddeeff'
  FROM (SELECT ${sagaIds}, step FROM generate_series($1::bigint, $2) AS n, generate_series(0, 2) AS step) AS made`
const log = `INSERT INTO saga_events (tenant, received_at, operation, saga_id, activity_id, content_key, result, request)
  SELECT 'default', now(), CASE WHEN step < 4 THEN 'ActivityExecuteStarted' ELSE 'ActivityEnded' END, saga_id,
    saga_id || '-' || step % 3, decode(md5(saga_id || step), 'hex'), 'recorded', convert_to(repeat('x', 245), 'UTF8')
  FROM (SELECT ${sagaIds}, step FROM generate_series($1::bigint, $2) AS n,
    generate_series(1, ${eventsOfSaga}) AS step) AS made`

/**
 * Fills the log up to at least that many events, with the sagas and activities that they would have created.
 */
export async function fillLog(url: string, events: number, tell: (line: string) => void): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    // Filled rows may be lost in a crash; measured ones may not.
    await client.query("SET synchronous_commit = 'off'")
    const { rows } = await client.query<{ sagas: number }>(
      "SELECT count(*)::float8 AS sagas FROM sagas WHERE id LIKE '9%'",
    )
    const wanted = Math.ceil(events / eventsOfSaga)
    for (let from = (rows[0]?.sagas ?? 0) + 1; from <= wanted; from += sagasOfStatement) {
      const to = Math.min(wanted, from + sagasOfStatement - 1)
      await client.query('BEGIN')
      for (const statement of [sagas, activities, log]) await client.query(statement, [from, to])
      await client.query('COMMIT')
      if (to % (sagasOfStatement * 10) === 0) tell(`${to * eventsOfSaga} events filled in`)
    }
    await client.query('VACUUM (ANALYZE)')
  } finally {
    await client.end()
  }
}
