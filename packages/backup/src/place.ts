import { join, resolve } from 'node:path'
import { readSecretFiles } from '@switchyard/config'
import { SetupProblem } from '@switchyard/dev-env'

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

/**
 * The installation that the environment names: with SWITCHYARD_STORAGE_ROOT one with servers of its own, else that of
 * `npm start`. The URL of the database may come from a file.
 */
export function readPlace(root: string, env: NodeJS.ProcessEnv): Place {
  const secrets = readSecretFiles(['DATABASE_URL'], env)
  if (secrets.problems.size > 0) throw new SetupProblem([...secrets.problems.values()].join('; '))
  const { SWITCHYARD_STORAGE_ROOT: storageRoot, SWITCHYARD_DATA: data } = env
  const { DATABASE_URL: databaseUrl } = secrets.env
  if (databaseUrl && !/^postgres(?:ql)?:\/\//.test(databaseUrl))
    throw new SetupProblem('DATABASE_URL must be postgresql://user:password@host:port/database')
  if (storageRoot) {
    if (!databaseUrl) throw new SetupProblem('SWITCHYARD_STORAGE_ROOT is set: set DATABASE_URL, too')
    return { databaseUrl, storageRoot: resolve(root, storageRoot), dataDir: null }
  }
  const dataDir = resolve(root, data || '.switchyard')
  return { databaseUrl: databaseUrl || null, storageRoot: join(dataDir, 'repositories'), dataDir }
}
