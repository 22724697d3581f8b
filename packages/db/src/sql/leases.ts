interface LeasedRows {
  table: string
  /** The columns that identify a row. */
  keys: readonly string[]
  /** SQL for whether a row may be taken. */
  free: string
  /** SQL of the order in which rows are taken. */
  order: string
  /** SQL of what is assigned, such as the end of the lease. */
  set: string
  /** SQL that reads the rows that were taken, as they are now, from `leased`. */
  select: string
}

/**
 * SQL that takes up to `$1` free rows, each for one process: it skips those that another process takes at the
 * same time. SQL calls a row `leased`. A process that ends keeps what it has taken until {@link leaseEnd}, by
 * the clock of PostgreSQL.
 */
export const leaseRows = ({ table, keys, free, order, set, select }: LeasedRows): string =>
  `WITH free AS (
      SELECT ${keys.map((key) => `leased.${key}`).join(', ')} FROM ${table} leased WHERE ${free}
      ORDER BY ${order} LIMIT $1 FOR UPDATE SKIP LOCKED),
    leased AS (UPDATE ${table} leased SET ${set} FROM free
      WHERE ${keys.map((key) => `leased.${key} = free.${key}`).join(' AND ')} RETURNING leased.*)
    ${select}`

/** SQL for the end of a lease that begins now. @param ms SQL of its milliseconds */
export const leaseEnd = (ms: string): string => `now() + ${ms} * interval '1 ms'`

/**
 * SQL for whether nobody holds a row of this table whose lease names its owner, in the columns `owner` and
 * `owned_until`.
 */
export const hasNoOwner = (table: string): string =>
  `(${table}.owned_until IS NULL OR ${table}.owned_until < now())`

/** SQL that ends such a lease, so that another process can take the row at once. */
export const ownerReleased = 'owner = NULL, owned_until = NULL'
