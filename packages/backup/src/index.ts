import { ConfigError } from '@switchyard/config'
import { createProgress, SetupProblem } from '@switchyard/dev-env'
import { createBackup } from './create-backup.js'
import type { Manifest } from './manifest.js'
import { type Place, readPlace } from './place.js'
import { restoreBackup } from './restore-backup.js'

export interface CommandOptions {
  /** The folder of the checkout. */
  root: string
  /** Of Switchyard. */
  version: string
  /** The folder of the backup. */
  folder: string | undefined
}

/** `pnpm backup FOLDER`. @returns the exit code */
export const runBackup = (options: CommandOptions): Promise<number> =>
  run('backup', options, async (place, folder) => {
    const { version } = options
    const manifest = await createBackup({ place, folder, version, progress: createProgress() })
    return `${folder} has everything up to ${describe(manifest)}`
  })

/** `pnpm restore FOLDER`. @returns the exit code */
export const runRestore = (options: CommandOptions): Promise<number> =>
  run('restore', options, async (place, folder) => {
    const manifest = await restoreBackup({ place, folder, progress: createProgress() })
    return `restored everything up to ${describe(manifest)}`
  })

function describe({ cut, database, repositories, lfsObjects }: Manifest): string {
  const rows = database.tables.reduce((sum, table) => sum + table.rows, 0)
  return `${cut}: ${rows} rows, ${repositories.length} repositories, ${lfsObjects.objects} LFS objects`
}

/** Prints what `work` returns, or in one line a problem that the user can solve. */
async function run(
  command: string,
  { root, folder }: CommandOptions,
  work: (place: Place, folder: string) => Promise<string>,
): Promise<number> {
  try {
    if (!folder) throw new SetupProblem(`Name the folder of the backup: pnpm ${command} FOLDER`)
    process.stdout.write(`${await work(readPlace(root, process.env), folder)}\n`)
    return 0
  } catch (error) {
    if (!(error instanceof SetupProblem || error instanceof ConfigError || isOfSystem(error))) throw error
    process.stderr.write(`✗ ${error.message}\n`)
    return 1
  }
}

/** An error of the operating system, such as a full disk, or of PostgreSQL. */
const isOfSystem = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'
