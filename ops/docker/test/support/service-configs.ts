import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { loadConfig } from '../../../../packages/config/src/index.js'
import { repository } from './build-stages.js'

export type ConfigSchema = Parameters<typeof loadConfig>[1]

/** Folders below services/. */
export const serviceNames = readdirSync(join(repository, 'services'))

/** Returns the schema of a service's environment. */
export async function configSchemaOf(service: string): Promise<ConfigSchema> {
  const config = await import(`../../../../services/${service}/src/config.ts`)
  return config.configSchema
}
