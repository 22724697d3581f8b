import { Prisma } from './generated/client.js'

/**
 * SQLSTATE classes and codes of temporary failures: connection lost, out of resources, shutting down or
 * starting, I/O errors, a read-only standby, missing migrations, and repeated serialization failures or
 * deadlocks.
 */
const temporaryStates = [
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
  // Prisma's code for a transaction that got no connection in time or took too long.
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

/** Messages of node-postgres for errors without a code. */
const driverTexts =
  /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after|getaddrinfo )/

/** Names of Prisma's adapter for the same conditions. */
const temporaryKinds = [
  'DatabaseNotReachable',
  'ConnectionClosed',
  'SocketTimeout',
  'TooManyConnections',
  'TableDoesNotExist',
  'ColumnNotFound',
  'TransactionWriteConflict',
]

/** The states that callers distinguish by `sqlStateOf`. */
export const sqlStates = {
  foreignKeyViolation: '23503',
  uniqueViolation: '23505',
  serializationFailure: '40001',
  deadlockDetected: '40P01',
  lockNotAvailable: '55P03',
  queryCanceled: '57014',
}

/** Returns the SQLSTATE of a failed statement; undefined when PostgreSQL did not answer. */
export function sqlStateOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^[0-9A-Z]{5}$/.test(code) && !systemCodes.includes(code) ? code : undefined
}

/** Returns whether a query failed because the database is temporarily unavailable. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const reported = adapterFailureOf(error)
  if (reported) return temporaryKinds.includes(reported.kind) || isTemporaryState(reported.originalCode ?? '')
  const state = sqlStateOf(error)
  if (state !== undefined) return isTemporaryState(state)
  const code = 'code' in error ? String(error.code) : ''
  return systemCodes.includes(code) || driverTexts.test(error.message) || isDatabaseUnavailable(error.cause)
}

const isTemporaryState = (state: string): boolean =>
  temporaryStates.some((prefix) => state.startsWith(prefix))

interface AdapterFailure {
  kind: string
  /** The SQLSTATE, if PostgreSQL answered with one. */
  originalCode?: string
}

/** Returns the error of Prisma's driver adapter, which Prisma puts into `meta`. */
function adapterFailureOf(error: Error): AdapterFailure | undefined {
  const { meta } = error as { meta?: { driverAdapterError?: { cause?: AdapterFailure } } }
  return meta?.driverAdapterError?.cause
}

interface DriverError {
  driverAdapterError?: { cause?: { constraint?: { index?: string } } }
}

/**
 * Returns the unique index that a write of Prisma or pg violated, e.g. `users_username_key_key`; null when
 * the write failed for another reason.
 */
export function violatedUniqueIndex(error: unknown): string | null {
  if (sqlStateOf(error) === sqlStates.uniqueViolation)
    return String((error as ConstraintError).constraint ?? '')
  if (!(error instanceof Prisma.PrismaClientKnownRequestError) || error.code !== 'P2002') return null
  return (error.meta as DriverError | undefined)?.driverAdapterError?.cause?.constraint?.index ?? ''
}

/**
 * Returns a handler for `catch` of a write. It throws a refusal when the write violated a unique index, and
 * every other error unchanged.
 *
 * @param refuse receives the error and the name of the index
 */
export const onTaken =
  (refuse: (cause: unknown, index: string) => Error) =>
  (error: unknown): never => {
    const index = violatedUniqueIndex(error)
    throw index === null ? error : refuse(error, index)
  }

/** An error of pg for a statement, or of Prisma. */
type ConstraintError = Error & { constraint?: unknown }

/** Returns whether a row was refused because its project has been deleted meanwhile. */
export const isMissingProject = (error: unknown): boolean =>
  error instanceof Error &&
  /foreign key/i.test(error.message) &&
  /_project_id_fkey\b/.test(`${(error as ConstraintError).constraint ?? error.message}`)
