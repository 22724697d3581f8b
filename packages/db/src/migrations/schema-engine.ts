import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import * as engineModule from '@prisma/schema-engine-wasm/schema_engine_bg'
import { createDatabase } from '../client.js'
import { SchemaEngineAdapterFactory } from './schema-engine-adapter.js'
import { migrationsPath, type ShippedMigration, schemaPath } from './shipped-migrations.js'

export type SchemaEngine = engineModule.SchemaEngine
export type MigrationList = engineModule.MigrationList

export const noFilters: engineModule.SchemaFilter = { externalTables: [], externalEnums: [] }

/** The used part of WebAssembly, which is missing in TypeScript's types for Node. */
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

let wasmLoaded: Promise<void> | undefined

/**
 * Runs `work` with Prisma's schema engine on the database at `url`, over one connection. The engine is the
 * WebAssembly build of an npm package, so nothing is downloaded.
 *
 * @param lockTimeoutMs longest wait of a migration's statement for a lock; 0: no limit
 */
export async function withSchemaEngine<T>(
  url: string,
  work: (engine: SchemaEngine) => Promise<T>,
  lockTimeoutMs = 0,
): Promise<T> {
  wasmLoaded ??= loadWasm()
  await wasmLoaded
  // One connection, so that the engine's session lock and its statements share a session.
  const database = createDatabase({
    url,
    poolSizeMax: 1,
    applicationName: 'switchyard-migrations',
    // A migration of a large table may take any time.
    answerTimeoutMs: 0,
  })
  try {
    const adapter = bindMigrationAwareSqlAdapterFactory(
      new SchemaEngineAdapterFactory(database.pool, lockTimeoutMs),
    )
    const datamodels: [string, string][] = [[schemaPath, await readFile(schemaPath, 'utf8')]]
    const engine = await engineModule.SchemaEngine.new({ datamodels }, () => {}, adapter)
    try {
      return await work(engine)
    } finally {
      engine.free()
    }
  } finally {
    await database.close()
  }
}

/** Converts migrations to the format of the engine. */
export function toMigrationList(migrations: readonly ShippedMigration[]): MigrationList {
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

/**
 * Loads the engine. Its package imports './schema_engine_bg.wasm', which bundlers support and Node does not.
 */
async function loadWasm(): Promise<void> {
  const modulePath = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg')
  const bytes = await readFile(modulePath.replace(/\.js$/, '.wasm'))
  const { instance } = await WebAssembly.instantiate(bytes, { './schema_engine_bg.js': engineModule })
  // The engine reports the message of a panic to this global object.
  Object.assign(globalThis, { PRISMA_WASM_PANIC_REGISTRY: { set_message: throwPanic } })
  const glue = engineModule as unknown as WasmGlue
  glue.__wbg_set_wasm(instance.exports)
  instance.exports.__wbindgen_start()
}

function throwPanic(message: string): never {
  throw new Error(`the schema engine failed: ${message}`)
}
