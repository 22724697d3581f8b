import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { PrismaPg } from '@prisma/adapter-pg'
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlDriverAdapter,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils'
import * as engineModule from '@prisma/schema-engine-wasm/schema_engine_bg'
import pg from 'pg'
import { migrationsPath, type ShippedMigration, schemaPath } from './shipped-migrations.js'

export type SchemaEngine = engineModule.SchemaEngine

export const noFilters: engineModule.SchemaFilter = { externalTables: [], externalEnums: [] }

/** The part of WebAssembly used here; Node has it, and its types name it only together with the browser's. */
declare const WebAssembly: {
  instantiate(
    bytes: Uint8Array,
    imports: Record<string, unknown>,
  ): Promise<{ instance: { exports: WasmExports } }>
}

interface WasmExports {
  __wbindgen_start(): void
}

interface WasmGlue {
  __wbg_set_wasm(exports: WasmExports): void
}

const internalCharOid = 18
const textOid = 25
/** Which columns of a result (known by its rows) have the catalogue's type "char". */
const internalCharColumns = new WeakMap<object, number[]>()

let wasmLoaded: Promise<void> | undefined

/**
 * Runs `work` with Prisma's schema engine on the database at `url`, over one connection.
 * The engine is the WebAssembly build: it comes with the packages, nothing is downloaded.
 */
export async function withSchemaEngine<T>(
  url: string,
  work: (engine: SchemaEngine) => Promise<T>,
): Promise<T> {
  wasmLoaded ??= loadWasm()
  await wasmLoaded
  const pool = createSchemaEnginePool(url)
  try {
    const adapter = bindMigrationAwareSqlAdapterFactory(new SchemaEngineAdapter(pool))
    const datamodels: [string, string][] = [[schemaPath, await readFile(schemaPath, 'utf8')]]
    const engine = await engineModule.SchemaEngine.new({ datamodels }, () => {}, adapter)
    try {
      return await work(engine)
    } finally {
      engine.free()
    }
  } finally {
    await pool.end()
  }
}

/** The shipped migrations in the form the engine takes them. */
export function toMigrationList(migrations: ShippedMigration[]): engineModule.MigrationList {
  return {
    baseDir: migrationsPath,
    lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' },
    shadowDbInitScript: '',
    migrationDirectories: migrations.map(({ name, sql }) => ({
      path: name,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: sql } },
    })),
  }
}

/** Does what the package's own entry leaves to bundlers: `import … from './schema_engine_bg.wasm'`. */
async function loadWasm(): Promise<void> {
  const modulePath = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg')
  const bytes = await readFile(modulePath.replace(/\.js$/, '.wasm'))
  const { instance } = await WebAssembly.instantiate(bytes, { './schema_engine_bg.js': engineModule })
  // Where the engine reports a panic. Without it, the panic would show as a failure to report it.
  Object.assign(globalThis, { PRISMA_WASM_PANIC_REGISTRY: { set_message: throwPanic } })
  const glue = engineModule as unknown as WasmGlue
  glue.__wbg_set_wasm(instance.exports)
  instance.exports.__wbindgen_start()
}

function throwPanic(message: string): never {
  throw new Error(`the schema engine failed: ${message}`)
}

/** One connection, so that the engine's session lock and its statements share a session. */
function createSchemaEnginePool(url: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: 1,
    application_name: 'switchyard-migrations',
    connectionTimeoutMillis: 5000,
    // The adapter drops the zone of a time it reads, so the session has to be in UTC.
    onConnect: async (client) => {
      await client.query("SET TIME ZONE 'UTC'")
    },
  })
  pool.on('error', () => {})
  const query = pool.query.bind(pool) as (config: pg.QueryConfig) => Promise<pg.QueryResult>
  pool.query = (async (config: pg.QueryConfig) => {
    const result = await query(config)
    // The adapter throws at this type, so it gets to see text; SchemaEngineAdapter sets it right for the engine.
    const columns: number[] = []
    for (const [index, field] of (result.fields ?? []).entries()) {
      if (field.dataTypeID !== internalCharOid) continue
      field.dataTypeID = textOid
      columns.push(index)
    }
    if (columns.length > 0) internalCharColumns.set(result.rows, columns)
    return result
  }) as unknown as typeof pool.query
  return pool
}

class SchemaEngineAdapter implements SqlMigrationAwareDriverAdapterFactory {
  readonly provider = 'postgres'
  readonly adapterName = '@prisma/adapter-pg'
  readonly #pool: pg.Pool
  readonly #factory: PrismaPg

  constructor(pool: pg.Pool) {
    this.#pool = pool
    this.#factory = new PrismaPg(pool)
  }

  async connect(): Promise<SqlDriverAdapter> {
    const adapter = await this.#factory.connect()
    const queryRaw = adapter.queryRaw.bind(adapter)
    adapter.queryRaw = async (query) => {
      const result = await queryRaw(query)
      for (const index of internalCharColumns.get(result.rows) ?? []) {
        result.columnTypes[index] = ColumnTypeEnum.Character
      }
      return result
    }
    // The adapter would cut a script at every semicolon, those inside function bodies included.
    adapter.executeScript = async (script) => {
      await this.#pool.query(script)
    }
    return adapter
  }

  async connectToShadowDb(): Promise<SqlDriverAdapter> {
    return this.#factory.connectToShadowDb()
  }
}
