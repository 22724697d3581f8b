import { join, resolve } from 'node:path'
import { databaseUrl, loadConfig } from '@switchyard/config'
import { z } from 'zod'

/** Where an installation keeps what a backup has. */
export interface Place {
  /** Null: the embedded PostgreSQL of `npm start`. */
  databaseUrl: string | null
  /** Folder of the repositories. */
  storageRoot: string
  /** Data folder of `npm start`; null: the installation has none. */
  dataDir: string | null
}

/** Files of the data folder of `npm start` without which tokens and encrypted rows of the database are of no use. */
export const secretFiles = ['root-token', 'webhook-secret-keys']

/** The environment of a backup and of a restore. */
export const configSchema = z
  .object({
    DATABASE_URL: databaseUrl()
      .optional()
      .describe('The database, as the owner of the schema. Unset: the embedded one of `npm start`'),
    SWITCHYARD_STORAGE_ROOT: z
      .string()
      .optional()
      .describe('Folder of the repositories. Unset: that of `npm start`, and its secrets are in the backup'),
    SWITCHYARD_DATA: z.string().default('.switchyard').describe('The data folder of `npm start`'),
  })
  .superRefine((config, context) => {
    if (config.SWITCHYARD_STORAGE_ROOT === undefined || config.DATABASE_URL) return
    context.addIssue({
      code: 'custom',
      path: ['DATABASE_URL'],
      message: 'set it together with SWITCHYARD_STORAGE_ROOT',
    })
  })

/**
 * The installation that the environment names: with SWITCHYARD_STORAGE_ROOT one with servers of its own, else that of
 * `npm start`.
 *
 * @throws ConfigError naming every variable that does not fit
 */
export function readPlace(root: string, env: NodeJS.ProcessEnv): Place {
  const config = loadConfig('the backup', configSchema, env)
  const url = config.DATABASE_URL?.reveal() ?? null
  if (config.SWITCHYARD_STORAGE_ROOT !== undefined)
    return { databaseUrl: url, storageRoot: resolve(root, config.SWITCHYARD_STORAGE_ROOT), dataDir: null }
  const dataDir = resolve(root, config.SWITCHYARD_DATA)
  return { databaseUrl: url, storageRoot: join(dataDir, 'repositories'), dataDir }
}
