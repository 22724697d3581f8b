import { describe, expect, it, vi } from 'vitest'
import { databaseServices, passwordVariableOf } from '../../packages/db/src/roles/index.js'
import { loadConfig } from '../../packages/service-kit/src/config/index.js'
import { readCompose, readRepositoryFile } from './support/compose.js'
import { configSchemaOf, serviceNames } from './support/service-configs.js'

// A service's schema imports much of the service, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 30_000 })

/** Rows of docs/configuration.md by heading: variable → default as written there. */
function readTables(): Map<string, Record<string, string>> {
  const tables = new Map<string, Record<string, string>>()
  for (const section of readRepositoryFile('docs/configuration.md').split(/^## /m).slice(1)) {
    const rows = section.matchAll(/^\| +`(\w+)` +\| +(\S+) +\|/gm)
    tables.set(
      section.split('\n', 1)[0] ?? '',
      Object.fromEntries([...rows].map(([, name, value = '']) => [name, value.replaceAll('`', '')])),
    )
  }
  return tables
}

/** The same, as the schema has it. */
async function readSchema(service: string): Promise<Record<string, string>> {
  const { shape } = await configSchemaOf(service)
  return Object.fromEntries(
    Object.entries(shape).map(([name, field]) => {
      const unset = (field as { safeParse(value: unknown): { success: boolean; data?: unknown } }).safeParse(
        undefined,
      )
      if (!unset.success) return [name, 'required']
      return [name, unset.data === undefined ? 'unset' : String(unset.data)]
    }),
  )
}

const tables = readTables()

describe('docs/configuration.md', () => {
  it.each(serviceNames)('names exactly the variables that %s reads, with their defaults', async (service) => {
    expect({ ...tables.get('Every service'), ...tables.get(service) }).toEqual(await readSchema(service))
  })
})

describe('docker-compose.yml', () => {
  const compose = readCompose({
    POSTGRES_PASSWORD: 'a'.repeat(32),
    ...Object.fromEntries(databaseServices.map((name) => [passwordVariableOf(name), 'd'.repeat(32)])),
    REDIS_PASSWORD: 'b'.repeat(32),
    SWITCHYARD_ROOT_TOKEN: 'c'.repeat(32),
    WEBHOOK_SECRET_KEYS: 'd'.repeat(42).concat('g'),
  })
  /** What the images set themselves. */
  const ofImages = {
    HOST: '0.0.0.0',
    PORT: '8080',
    SWITCHYARD_STORAGE_ROOT: '/var/lib/switchyard/repositories',
  }

  it.each(serviceNames)(
    'gives %s an environment it starts with, and nothing it does not read',
    async (service) => {
      const schema = await configSchemaOf(service)
      const environment = compose.services[service]?.environment ?? {}
      expect(() => loadConfig(service, schema, { ...ofImages, ...environment })).not.toThrow()
      expect(Object.keys(schema.shape)).toEqual(expect.arrayContaining(Object.keys(environment)))
    },
  )
})
