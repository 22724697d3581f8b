/**
 * SQLSTATE classes and codes of a database that cannot work now, but may later: connection lost, out of resources,
 * shutting down or starting, I/O trouble, a standby that takes no writes, migrations not applied yet, and
 * transactions that lost to others again and again.
 */
const passing = [
  '08',
  '53',
  '57P',
  '58',
  '25006',
  '42P01',
  '42703',
  '42704',
  '42883',
  '40001',
  '40P01',
  '55P03',
  // Prisma's own: no connection was free in time for a transaction, or it took too long.
  'P2028',
]

const systemCodes = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
]

/** What node-postgres says without a code. */
const driverTexts =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after|getaddrinfo )/

/** What Prisma's adapter calls the same conditions. */
const passingKinds = [
  'DatabaseNotReachable',
  'ConnectionClosed',
  'SocketTimeout',
  'TooManyConnections',
  'TableDoesNotExist',
  'ColumnNotFound',
  'TransactionWriteConflict',
]

/** The code of a failed statement; undefined when PostgreSQL did not answer with one. */
export function sqlStateOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^[0-9A-Z]{5}$/.test(code) && !systemCodes.includes(code) ? code : undefined
}

/** Whether a query failed because the database cannot be used now: the same query may work later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const reported = adapterFailureOf(error)
  if (reported) return passingKinds.includes(reported.kind) || isPassingState(reported.originalCode ?? '')
  const state = sqlStateOf(error)
  if (state !== undefined) return isPassingState(state)
  const code = 'code' in error ? String(error.code) : ''
  return systemCodes.includes(code) || driverTexts.test(error.message) || isDatabaseUnavailable(error.cause)
}

const isPassingState = (state: string): boolean => passing.some((prefix) => state.startsWith(prefix))

interface AdapterFailure {
  kind: string
  /** SQLSTATE, when PostgreSQL answered with one. */
  originalCode?: string
}

/** What Prisma's driver adapter saw, which the client's error carries in its `meta`. */
function adapterFailureOf(error: Error): AdapterFailure | undefined {
  const { meta } = error as { meta?: { driverAdapterError?: { cause?: AdapterFailure } } }
  return meta?.driverAdapterError?.cause
}
