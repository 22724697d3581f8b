import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { type Prisma, PrismaClient } from './generated/client.js'

export interface DatabaseOptions {
  url: string
  /** Most simultaneous connections of this process. Prisma and raw SQL share them. */
  poolSizeMax: number
  /** Name in `pg_stat_activity`, by which operators see the service of a connection. */
  applicationName: string
  /** Time after which the server cancels a statement. Unset: no limit. */
  statementTimeoutMs?: number
  /**
   * Time after which a query without an answer fails, and its connection is closed. A network that drops
   * packets reports nothing, and the operating system notices it only after a quarter of an hour. Unset: 30
   * s; 0: no limit.
   */
  answerTimeoutMs?: number | undefined
}

export interface Database {
  readonly prisma: PrismaClient
  /** The pool that Prisma uses, for SQL on hot paths. */
  pool: pg.Pool
  /** Waits for running queries, then closes every connection. */
  close(): Promise<void>
}

/** The pool alone, for code that uses only SQL. */
export type Pooled = Pick<Database, 'pool'>

/** The database itself, or a running transaction on it. */
export interface DatabaseOrTransaction {
  prisma: Prisma.TransactionClient
}

const isTransaction = Symbol('isTransaction')

/** A running transaction of Prisma, which only {@link inTransaction} begins. */
export interface PrismaTransaction extends DatabaseOrTransaction {
  [isTransaction]: true
}

/** One page of a list, in rows. */
export interface Rows {
  skip: number
  take: number
}

const connectTimeoutMs = 5000
const defaultAnswerTimeoutMs = 30_000

/**
 * Creates a client that connects at its first query, so that a service can start while its database is down.
 */
export function createDatabase({
  url,
  poolSizeMax,
  applicationName,
  statementTimeoutMs,
  answerTimeoutMs = defaultAnswerTimeoutMs,
}: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSizeMax,
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    query_timeout: answerTimeoutMs,
    ...(statementTimeoutMs === undefined ? {} : { statement_timeout: statementTimeoutMs }),
    // Prisma's adapter requires that the time zone of the session is UTC.
    onConnect: async (client) => {
      await client.query("SET TIME ZONE 'UTC'")
    },
  })
  // A connection that is lost between two queries must not end the process. The next query reports the error.
  pool.on('error', ignoreLostConnection)
  pool.on('connect', (client) => client.on('error', ignoreLostConnection))

  let prisma: PrismaClient | undefined
  return {
    // Created at its first use, because a Prisma client needs memory for the whole schema, and some processes
    // run only SQL.
    get prisma() {
      // Other formats put lines of source code into error messages.
      prisma ??= new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: 'minimal' })
      return prisma
    },
    pool,
    async close() {
      await prisma?.$disconnect()
      await pool.end()
    },
  }
}

/**
 * Time limit of a transaction that deletes a row with everything that belongs to it, which may be millions of
 * rows.
 */
export const deletingMsMax = defaultAnswerTimeoutMs

/** Runs `work` in one transaction, which ends after `msMax` at the latest. */
export async function inTransaction<T>(
  database: Database,
  work: (transaction: PrismaTransaction) => Promise<T>,
  msMax = 5_000,
): Promise<T> {
  return database.prisma.$transaction((prisma) => work({ prisma, [isTransaction]: true }), { timeout: msMax })
}

function ignoreLostConnection(): void {}
