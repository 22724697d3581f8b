import { PrismaPg } from '@prisma/adapter-pg'
import {
  type ColumnType,
  ColumnTypeEnum,
  DriverAdapterError,
  type IsolationLevel,
  type SqlDriverAdapter,
  type SqlMigrationAwareDriverAdapterFactory,
  type SqlQuery,
  type SqlResultSet,
  type Transaction,
} from '@prisma/driver-adapter-utils'
import pg from 'pg'
import { lockTimeoutOf } from './lock-timeout.js'

/** Prisma's adapter for PostgreSQL, extended for the schema engine. */
export class SchemaEngineAdapterFactory implements SqlMigrationAwareDriverAdapterFactory {
  readonly provider = 'postgres'
  readonly adapterName = '@prisma/adapter-pg'
  readonly #pool: pg.Pool
  readonly #factory: PrismaPg
  readonly #lockTimeoutMs: number

  /**
   * Creates the adapter.
   *
   * @param pool of one connection
   * @param lockTimeoutMs longest wait of a script's statement for a lock; 0: no limit
   */
  constructor(pool: pg.Pool, lockTimeoutMs: number) {
    this.#pool = pool
    this.#lockTimeoutMs = lockTimeoutMs
    this.#factory = new PrismaPg(pool)
  }

  async connect(): Promise<SqlDriverAdapter> {
    return new SchemaEngineAdapter(this.#pool, await this.#factory.connect(), this.#lockTimeoutMs)
  }

  connectToShadowDb(): Promise<SqlDriverAdapter> {
    return this.#factory.connectToShadowDb()
  }
}

class SchemaEngineAdapter implements SqlDriverAdapter {
  readonly provider = 'postgres'
  readonly adapterName = '@prisma/adapter-pg'
  readonly #pool: pg.Pool
  readonly #adapter: SqlDriverAdapter
  readonly #lockTimeoutMs: number

  constructor(pool: pg.Pool, adapter: SqlDriverAdapter, lockTimeoutMs: number) {
    this.#pool = pool
    this.#adapter = adapter
    this.#lockTimeoutMs = lockTimeoutMs
  }

  async queryRaw(query: SqlQuery): Promise<SqlResultSet> {
    try {
      return await this.#adapter.queryRaw(query)
    } catch (error) {
      if (isUnsupportedChar(error)) return readCatalogue(this.#pool, query)
      throw error
    }
  }

  executeRaw(query: SqlQuery): Promise<number> {
    return this.#adapter.executeRaw(query)
  }

  /**
   * Runs a script as a whole, because Prisma's adapter splits it at every semicolon, even inside a function
   * body.
   */
  async executeScript(script: string): Promise<void> {
    // The script cannot contain this statement, because it has to be a single statement when it builds an
    // index CONCURRENTLY.
    await this.#pool.query(`SET lock_timeout = ${lockTimeoutOf(script, this.#lockTimeoutMs)}`)
    try {
      await this.#pool.query(script)
    } catch (error) {
      throw error instanceof pg.DatabaseError ? toAdapterError(error) : error
    }
  }

  startTransaction(isolationLevel?: IsolationLevel): Promise<Transaction> {
    return this.#adapter.startTransaction(isolationLevel)
  }

  dispose(): Promise<void> {
    return this.#adapter.dispose()
  }
}

/**
 * Converts an error to this class, the only one whose message the engine reports. The engine reports no code.
 */
const toAdapterError = ({ code = '', severity = '', message, detail, column, hint }: pg.DatabaseError) =>
  new DriverAdapterError({
    kind: 'postgres',
    code,
    severity,
    message: `${message} (${code})`,
    detail,
    column,
    hint,
  })

/**
 * Returns whether Prisma's adapter refused a column of the type "char", which the catalogue of PostgreSQL
 * uses.
 */
const isUnsupportedChar = (error: unknown): boolean =>
  error instanceof DriverAdapterError &&
  error.cause.kind === 'UnsupportedNativeDataType' &&
  error.cause.type === 'char'

/** Prisma's types by PostgreSQL type id, for the results with a "char" column that the engine reads. */
const catalogueTypes: Partial<Record<number, ColumnType>> = {
  [pg.types.builtins.BOOL]: ColumnTypeEnum.Boolean,
  [pg.types.builtins.CHAR]: ColumnTypeEnum.Character,
  [pg.types.builtins.INT2]: ColumnTypeEnum.Int32,
  [pg.types.builtins.OID]: ColumnTypeEnum.Int64,
  [pg.types.builtins.TEXT]: ColumnTypeEnum.Text,
  // The type "name", for which node-postgres has no constant.
  19: ColumnTypeEnum.Text,
}

async function readCatalogue(pool: pg.Pool, { sql, args }: SqlQuery): Promise<SqlResultSet> {
  const { fields, rows } = await pool.query<unknown[]>({ text: sql, values: args, rowMode: 'array' })
  const columnTypes = fields.map(({ name, dataTypeID }) => {
    const type = catalogueTypes[dataTypeID]
    if (type === undefined)
      throw new Error(
        `the schema engine reads column ${name} of type ${dataTypeID}: add it to catalogueTypes`,
      )
    return type
  })
  return { columnNames: fields.map(({ name }) => name), columnTypes, rows }
}
