import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { type Prisma, PrismaClient } from './generated/client.js'

export interface DatabaseOptions {
  url: string
  /** Connections this process may hold at once; Prisma and raw SQL share them. */
  poolSizeMax: number
  /** Shown in `pg_stat_activity`, so that operators see who holds a connection. */
  applicationName: string
  /** A statement that takes longer is cancelled by the server. Unset: none is. */
  statementTimeoutMs?: number
}

export interface Database {
  readonly prisma: PrismaClient
  /** The pool below `prisma`, for SQL on hot paths. */
  pool: pg.Pool
  /** Waits for running queries, then closes every connection. */
  close(): Promise<void>
}

/** The database itself, or a running transaction on it. */
export interface DatabaseOrTransaction {
  prisma: Prisma.TransactionClient
}

const connectTimeoutMs = 5000

/** Connects at the first query, so that a service can start while its database is down. */
export function createDatabase({
  url,
  poolSizeMax,
  applicationName,
  statementTimeoutMs,
}: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSizeMax,
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    ...(statementTimeoutMs === undefined ? {} : { statement_timeout: statementTimeoutMs }),
    // Prisma's adapter reads and writes times as if the session were in UTC, whatever the server's zone is.
    onConnect: async (client) => {
      await client.query("SET TIME ZONE 'UTC'")
    },
  })
  // A connection lost between two queries must not end the process: the next query reports what is wrong.
  pool.on('error', ignoreLostConnection)
  pool.on('connect', (client) => client.on('error', ignoreLostConnection))

  let prisma: PrismaClient | undefined
  return {
    // A Prisma client takes memory for the whole schema, which a process that runs only SQL does not need.
    get prisma() {
      // The other formats put lines of source code into messages, and with them into logs.
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

/** Runs `work` in one transaction: all of its writes hold, or none does. */
export async function inTransaction<T>(
  database: Database,
  work: (transaction: DatabaseOrTransaction) => Promise<T>,
): Promise<T> {
  return database.prisma.$transaction((prisma) => work({ prisma }))
}

function ignoreLostConnection(): void {}
