import type { PoolClient, Pooled } from '@switchyard/db'
import { queryOf } from '@switchyard/db/sql'
import type { Activity, Saga } from '@switchyard/domain/saga'
import {
  activityTable,
  hasErrors,
  type LockedKeys,
  lockKeys,
  retryConflicts,
  sagaTable,
  type TenantKey,
  tenantKeyArrays,
  uniqueKeys,
  upsertErrors,
} from '@switchyard/saga-store'

/** An entry of the log with everything that sagas are derived from. */
export interface StoredEvent {
  tenant: string
  /** A bigint as text. */
  id: string
  receivedAt: Date
  operation: string
  sagaId: string | null
  activityId: string | null
  eventId: string | null
  eventTime: Date | null
  attempt: number | null
  parentSagaId: string | null
  contentKey: Uint8Array
  request: Uint8Array
  /** Size of the whole payload or errors, when the request has only their head; otherwise null. */
  payloadSize: number | null
  payloadSha256: Uint8Array | null
}

/**
 * A stored row, with the domain's names of its columns. Content keys are left out because older rows have
 * none.
 */
export type StoredRow = Record<string, unknown> & TenantKey

export interface StoredRows {
  sagas: StoredRow[]
  activities: StoredRow[]
}

/** A row that was derived from the log. */
export type DerivedRow<Row> = Row & { tenant: string }

const columns = `e.tenant, e.id::text AS id, e.received_at AS "receivedAt", e.operation, e.saga_id AS "sagaId",
  e.activity_id AS "activityId", e.event_id AS "eventId", e.event_time AS "eventTime", e.attempt,
  e.parent_saga_id AS "parentSagaId", e.content_key AS "contentKey", e.request, e.payload_size AS "payloadSize", e.payload_sha256 AS "payloadSha256"`

/** Reads each key once by jumping along the index, however many events a key has. */
const keysOf = (column: string, from: string, isLeftOut: string) => `WITH RECURSIVE keys AS (
    (SELECT e.tenant, e.${column} AS id FROM saga_events e
      WHERE ${from} AND (e.tenant, e.${column}) > ($1, $2) AND ($3::text IS NULL OR e.tenant = $3)
      ORDER BY e.tenant, e.${column} LIMIT 1)
    UNION ALL
    SELECT n.tenant, n.id FROM keys k CROSS JOIN LATERAL (
      SELECT e.tenant, e.${column} AS id FROM saga_events e
      WHERE ${from} AND (e.tenant, e.${column}) > (k.tenant, k.id) AND ($3::text IS NULL OR e.tenant = $3)
      ORDER BY e.tenant, e.${column} LIMIT 1) n
  )
  SELECT k.tenant, k.id, ${isLeftOut} AS "isLeftOut"
  FROM keys k LIMIT $4`

const isPurged = (kind: 'saga' | 'activity') => `EXISTS (SELECT FROM saga_tombstones t
    WHERE t.tenant = k.tenant AND t.kind = '${kind}' AND t.id = k.id)`
const isAdopted = 'EXISTS (SELECT FROM adopted d WHERE d.tenant = k.tenant AND d.id = k.id)'

const sagaKeys = keysOf('saga_id', 'e.saga_id IS NOT NULL', isPurged('saga'))
const parkedKeys = keysOf(
  'activity_id',
  'e.saga_id IS NULL AND e.activity_id IS NOT NULL',
  `${isPurged('activity')} OR ${isAdopted}`,
)

const given = 'unnest($1::text[], $2::text[]) AS given(tenant, id)'

const itsEvents = {
  sagas: 'e.tenant = r.tenant AND e.saga_id = r.id',
  // One condition for each index, so that each index is used.
  saga_activities: 'e.tenant = r.tenant AND e.saga_id = r.saga_id AND e.activity_id = r.id',
}

/** A database session that reads the log from its beginning to its end. */
export class RebuildSession {
  readonly #client: PoolClient
  readonly #tenant: string | null

  private constructor(client: PoolClient, tenant: string | null) {
    this.#client = client
    this.#tenant = tenant
  }

  /** @param tenant null: every tenant */
  static async open({ pool }: Pooled, tenant: string | null): Promise<RebuildSession> {
    const client = await pool.connect()
    // Stores the activities whose saga a later event named. The other activities without a saga in their
    // events are parked.
    await client.query(
      'CREATE TEMPORARY TABLE adopted (tenant text COLLATE "C", id text COLLATE "C", PRIMARY KEY (tenant, id))',
    )
    return new RebuildSession(client, tenant)
  }

  /** Closes the connection, which drops the temporary table. */
  close(): void {
    this.#client.release(true)
  }

  /** Returns the next sagas with events in the log, except sagas that retention removed; empty at the end. */
  nextSagas(after: TenantKey | null, rowsMax: number): Promise<TenantKey[]> {
    return this.#listKeys(sagaKeys, after, rowsMax)
  }

  /**
   * Returns the next activities whose saga no event has named. Call it after the events of all sagas have
   * been read.
   */
  nextParked(after: TenantKey | null, rowsMax: number): Promise<TenantKey[]> {
    return this.#listKeys(parkedKeys, after, rowsMax)
  }

  async #listKeys(sql: string, after: TenantKey | null, rowsMax: number): Promise<TenantKey[]> {
    let last = after
    for (;;) {
      const values = [...this.#valuesAfter(last), rowsMax]
      const { rows } = await this.#client.query<TenantKey & { isLeftOut: boolean }>(sql, values)
      const kept = rows.filter(({ isLeftOut }) => !isLeftOut).map(({ tenant, id }) => ({ tenant, id }))
      // When every key of a page is left out, later pages may still hold keys.
      if (kept.length > 0 || rows.length === 0) return kept
      last = rows.at(-1) ?? null
    }
  }

  #valuesAfter(after: TenantKey | null) {
    return [after?.tenant ?? this.#tenant ?? '', after?.id ?? '', this.#tenant]
  }

  /**
   * Reads the events of sagas in log order, including events from before the saga of their activity was
   * known.
   */
  async readEvents(sagas: readonly TenantKey[]): Promise<StoredEvent[]> {
    const { rows: own } = await this.#client.query<StoredEvent>(
      `SELECT ${columns} FROM ${given} JOIN saga_events e ON e.tenant = given.tenant AND e.saga_id = given.id`,
      tenantKeyArrays(sagas),
    )
    const activities = own.flatMap(({ tenant, activityId }) =>
      activityId === null ? [] : [{ tenant, id: activityId }],
    )
    const earlier = await this.#readUnnamedEvents(uniqueKeys(activities))
    const adopted = uniqueKeys(earlier.map(({ tenant, activityId }) => ({ tenant, id: activityId ?? '' })))
    await this.#client.query(
      `INSERT INTO adopted SELECT * FROM ${given} ON CONFLICT DO NOTHING`,
      tenantKeyArrays(adopted),
    )
    return [...own, ...earlier].sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1))
  }

  async #readUnnamedEvents(activities: readonly TenantKey[]): Promise<StoredEvent[]> {
    const { rows } = await this.#client.query<StoredEvent>(
      `SELECT ${columns} FROM ${given} JOIN saga_events e
         ON e.tenant = given.tenant AND e.activity_id = given.id AND e.saga_id IS NULL ORDER BY e.id`,
      tenantKeyArrays(activities),
    )
    return rows
  }

  /** Reads the events of parked activities, except activities whose saga has been named meanwhile. */
  async readParkedEvents(activities: readonly TenantKey[]): Promise<StoredEvent[]> {
    const { rows: parked } = await this.#client.query<TenantKey>(
      `SELECT given.tenant, given.id FROM ${given} WHERE NOT EXISTS (
         SELECT FROM saga_activities a JOIN saga_events e
           ON e.tenant = a.tenant AND e.saga_id = a.saga_id AND e.activity_id = a.id
         WHERE a.tenant = given.tenant AND a.id = given.id)`,
      tenantKeyArrays(activities),
    )
    return this.#readUnnamedEvents(parked)
  }

  /** Reads the stored rows of sagas and of all their activities, and of the given activities. */
  async readRows(sagas: readonly TenantKey[], activities: readonly TenantKey[]): Promise<StoredRows> {
    const sagaRows = await this.#client.query<StoredRow>(
      `SELECT stored.tenant, ${sagaTable.comparedList} FROM ${given} JOIN sagas stored USING (tenant, id)`,
      tenantKeyArrays(sagas),
    )
    const list = `stored.tenant, ${activityTable.comparedList}`
    const activityRows = await this.#client.query<StoredRow>(
      `SELECT ${list} FROM ${given} JOIN saga_activities stored
         ON stored.tenant = given.tenant AND stored.saga_id = given.id
       UNION
       SELECT ${list} FROM unnest($3::text[], $4::text[]) AS given(tenant, id)
         JOIN saga_activities stored USING (tenant, id)`,
      [...tenantKeyArrays(sagas), ...tenantKeyArrays(activities)],
    )
    return { sagas: sagaRows.rows, activities: activityRows.rows }
  }

  /** Returns the next rows without an event in the log. */
  async nextWithoutEvents(
    table: keyof typeof itsEvents,
    after: TenantKey | null,
    rowsMax: number,
  ): Promise<TenantKey[]> {
    const parked =
      table === 'sagas'
        ? ''
        : `AND NOT EXISTS (SELECT FROM saga_events e
            WHERE e.tenant = r.tenant AND e.activity_id = r.id AND e.saga_id IS NULL)`
    const { rows } = await this.#client.query<TenantKey>(
      `SELECT r.tenant, r.id FROM ${table} r
       WHERE (r.tenant, r.id) > ($1, $2) AND ($3::text IS NULL OR r.tenant = $3)
         AND NOT EXISTS (SELECT FROM saga_events e WHERE ${itsEvents[table]}) ${parked}
       ORDER BY r.tenant, r.id LIMIT $4`,
      [...this.#valuesAfter(after), rowsMax],
    )
    return rows
  }

  /**
   * Runs `work` on one snapshot of the database. With locks, reporters wait until `work` has written. When a
   * reporter has changed one of the rows before, `work` runs again on a newer snapshot.
   */
  atOnce<T>(locked: LockedKeys | null, work: () => Promise<T>): Promise<T> {
    const client = this.#client
    return retryConflicts(async () => {
      try {
        // PostgreSQL refuses to write a row that has changed or appeared since this snapshot.
        await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
        if (locked) await lockKeys(client, locked)
        const done = await work()
        await client.query('COMMIT')
        return done
      } catch (error) {
        await client.query('ROLLBACK')
        throw error
      }
    })
  }

  /** Writes a derived row, whether or not the row exists. */
  async writeSaga(row: DerivedRow<Saga>): Promise<void> {
    const change = { tenant: row.tenant, before: null, row }
    await this.#client.query(queryOf(sagaTable.overwrite, [change]))
  }

  /** Writes a derived row, whether or not the row exists. */
  async writeActivity(row: DerivedRow<Activity>): Promise<void> {
    const client = this.#client
    const { tenant, id, sagaId } = row
    await client.query(queryOf(activityTable.overwrite, [{ tenant, before: null, row }]))
    if (sagaId === null || !hasErrors(row)) {
      await client.query('DELETE FROM saga_errors WHERE tenant = $1 AND activity_id = $2', [tenant, id])
      return
    }
    const { rows } = await client.query<{ firstSeenAt: Date }>(
      'SELECT first_seen_at AS "firstSeenAt" FROM sagas WHERE tenant = $1 AND id = $2',
      [tenant, sagaId],
    )
    const sagaFirstSeenAt = rows[0]?.firstSeenAt ?? row.firstSeenAt
    const errors = { tenant, activity: row, sagaFirstSeenAt }
    await client.query(queryOf(upsertErrors, [errors]))
  }
}
