interface LeasedRows {
  table: string
  /** The columns that identify a row. */
  keys: readonly string[]
  /** SQL condition under which a row may be taken. */
  free: string
  /** SQL order in which rows are taken. */
  order: string
  /** SQL assignments, such as the end of the lease. */
  set: string
  /** SQL that reads the taken rows, in their new state, from `leased`. */
  select: string
}

/**
 * Returns SQL that takes up to `$1` free rows, each for one process. It skips rows that another process takes
 * at the same time. The SQL names a row `leased`. Even a process that ends keeps its rows until {@link
 * leaseEnd}, by the clock of PostgreSQL.
 */
export const leaseRows = ({ table, keys, free, order, set, select }: LeasedRows): string =>
  `WITH free AS (
      SELECT ${keys.map((key) => `leased.${key}`).join(', ')} FROM ${table} leased WHERE ${free}
      ORDER BY ${order} LIMIT $1 FOR UPDATE SKIP LOCKED),
    leased AS (UPDATE ${table} leased SET ${set} FROM free
      WHERE ${keys.map((key) => `leased.${key} = free.${key}`).join(' AND ')} RETURNING leased.*)
    ${select}`

/**
 * Returns SQL for the end of a lease that begins now.
 *
 * @param ms SQL of its milliseconds
 */
export const leaseEnd = (ms: string): string => `now() + ${ms} * interval '1 ms'`

/**
 * Returns SQL for a time span.
 *
 * @param parameter SQL of its seconds, which need not be whole
 */
export const secondsLong = (parameter: string): string =>
  `${parameter}::double precision * interval '1 second'`

/**
 * Returns the SQL condition that no process holds a row of this table. The lease names its owner in the
 * columns `owner` and `owned_until`.
 */
export const hasNoOwner = (table: string): string =>
  `(${table}.owned_until IS NULL OR ${table}.owned_until < now())`

/** SQL that ends such a lease, so that another process can take the row at once. */
export const ownerReleased = 'owner = NULL, owned_until = NULL'
