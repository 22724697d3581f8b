import { join, resolve } from 'node:path'
import { databaseUrl, loadConfig } from '@switchyard/config'
import { nameAndValue } from '@switchyard/domain'
import { findPostgres } from '@switchyard/local-servers'
import { SolvableProblem } from '@switchyard/terminal'
import { z } from 'zod'
import { type Copies, copyFields, findCopyProblem, readCopies } from './keep-copies.js'

/** The locations of the data that a backup copies. */
export interface DataLocations {
  /** Null: the embedded PostgreSQL of `npm start`. */
  databaseUrl: string | null
  /** Folder of the repositories of each storage, by the name of the storage. */
  storageRoots: ReadonlyMap<string, string>
  /** Data folder of `npm start`; null: the installation has none. */
  dataDir: string | null
  /** File of a metric for Prometheus; null: none. */
  metricsFile: string | null
  /** The place of copies of backups; null: none. */
  copies: Copies | null
}

/**
 * Secret files of the data folder of `npm start`. Without them, tokens and encrypted rows of the database are
 * useless.
 */
export const secretFiles = ['root-token', 'webhook-secret-keys']

export const defaultStorage = 'default'

const namedFolder = /^[a-z0-9][a-z0-9-]{0,62}=[^,]+$/

/** Returns a field of `name=folder`, separated by commas. */
const namedFolders = () =>
  z
    .string()
    .transform((text) => text.split(',').map((entry) => entry.trim()))
    .refine((entries) => entries.every((entry) => namedFolder.test(entry)), {
      error: 'must be storages such as second=/srv/second, separated by commas',
    })
    .transform((entries) => new Map(entries.map(nameAndValue)))

export const configSchema = z
  .object({
    DATABASE_URL: databaseUrl()
      .optional()
      .describe('The database, as the owner of the schema. Unset: the embedded one of `npm start`'),
    SWITCHYARD_STORAGE_ROOT: z
      .string()
      .optional()
      .describe('Folder of the repositories. Unset: that of `npm start`, and its secrets are in the backup'),
    SWITCHYARD_STORAGE_ROOTS: namedFolders()
      .optional()
      .describe(
        'In place of `SWITCHYARD_STORAGE_ROOT` where there are several [storages](scaling.md#storages-of-repositories): the folder of each, `default=/srv/first,second=/srv/second`',
      ),
    SWITCHYARD_DATA: z.string().default('.switchyard').describe('The data folder of `npm start`'),
    BACKUP_METRICS_FILE: z
      .string()
      .endsWith('.prom')
      .optional()
      .describe(
        'File for the textfile collector of the node exporter, which a backup writes at its end: [alert](backup.md#every-night)',
      ),
    ...copyFields,
  })
  .superRefine((config, context) => {
    const refuse = (name: string, message: string) =>
      context.addIssue({ code: 'custom', path: [name], message })
    const { SWITCHYARD_STORAGE_ROOT: one, SWITCHYARD_STORAGE_ROOTS: several } = config
    const problem = findCopyProblem(config)
    if (problem) refuse(...problem)
    const set = one === undefined ? 'SWITCHYARD_STORAGE_ROOTS' : 'SWITCHYARD_STORAGE_ROOT'
    if ((one ?? several) !== undefined && !config.DATABASE_URL)
      refuse('DATABASE_URL', `set it together with ${set}`)
    if (one !== undefined && several) refuse('SWITCHYARD_STORAGE_ROOTS', 'replaces SWITCHYARD_STORAGE_ROOT')
  })

/**
 * Reads the installation that the environment names. With SWITCHYARD_STORAGE_ROOT or
 * SWITCHYARD_STORAGE_ROOTS, its servers are not those of `npm start`.
 *
 * @throws ConfigError naming every invalid variable
 */
export function readLocations(root: string, env: NodeJS.ProcessEnv): DataLocations {
  const config = loadConfig('the backup', configSchema, env)
  const url = config.DATABASE_URL?.reveal() ?? null
  const metricsFile = config.BACKUP_METRICS_FILE ? resolve(root, config.BACKUP_METRICS_FILE) : null
  const copies = readCopies(config, env)
  const one = config.SWITCHYARD_STORAGE_ROOT
  const given =
    config.SWITCHYARD_STORAGE_ROOTS ?? (one === undefined ? null : new Map([[defaultStorage, one]]))
  if (given) {
    const storageRoots = new Map([...given].map(([name, folder]) => [name, resolve(root, folder)]))
    return { databaseUrl: url, storageRoots, dataDir: null, metricsFile, copies }
  }
  const dataDir = resolve(root, config.SWITCHYARD_DATA)
  const storageRoots = new Map([[defaultStorage, join(dataDir, 'repositories')]])
  return { databaseUrl: url, storageRoots, dataDir, metricsFile, copies }
}

/**
 * Returns the URL of the database of a running installation.
 *
 * @throws SolvableProblem when it does not run
 */
export function runningDatabaseOf({ dataDir, databaseUrl }: DataLocations): string {
  const url = databaseUrl ?? (dataDir && findPostgres(join(dataDir, 'postgres')))
  if (url) return url
  throw new SolvableProblem(
    `Switchyard does not run on ${dataDir}: start it, or set DATABASE_URL and SWITCHYARD_STORAGE_ROOT`,
  )
}

/**
 * Returns the folder of a storage.
 *
 * @throws SolvableProblem when the environment names none
 */
export function rootOf({ storageRoots }: Pick<DataLocations, 'storageRoots'>, storage: string): string {
  const folder = storageRoots.get(storage)
  if (folder !== undefined) return folder
  throw new SolvableProblem(
    `The storage ${storage} has projects: name the folder of every storage in SWITCHYARD_STORAGE_ROOTS`,
  )
}

/**
 * Returns the folder of the storage that holds a repository.
 *
 * @param storages those of repositories that are not in `default`
 */
export const rootOfRepository = (
  locations: Pick<DataLocations, 'storageRoots'>,
  storages: Record<string, string>,
  diskPath: string,
): string => rootOf(locations, storages[diskPath] ?? defaultStorage)
