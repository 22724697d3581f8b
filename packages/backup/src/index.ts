import { createProgress, SetupProblem } from '@switchyard/dev-env'
import { createBackup } from './create-backup.js'
import type { Manifest } from './manifest.js'
import { readPlace } from './place.js'
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
export const runBackup = ({ root, version, folder }: CommandOptions): Promise<number> =>
  explained(async () => {
    if (!folder) throw new SetupProblem('Name the folder of the backup: pnpm backup FOLDER')
    const options = { place: readPlace(root, process.env), folder, version, progress: createProgress() }
    const manifest = await createBackup(options)
    process.stdout.write(`${folder} has everything up to ${describe(manifest)}\n`)
  })

/** `pnpm restore FOLDER`. @returns the exit code */
export const runRestore = ({ root, folder }: CommandOptions): Promise<number> =>
  explained(async () => {
    if (!folder) throw new SetupProblem('Name the folder of the backup: pnpm restore FOLDER')
    const options = { place: readPlace(root, process.env), folder, progress: createProgress() }
    const manifest = await restoreBackup(options)
    process.stdout.write(`restored everything up to ${describe(manifest)}\n`)
  })

function describe({ cut, database, repositories, lfsObjects }: Manifest): string {
  const rows = database.tables.reduce((sum, table) => sum + table.rows, 0)
  return `${cut}: ${rows} rows, ${repositories.length} repositories, ${lfsObjects.objects} LFS objects`
}

/** Tells a problem that the user can solve in one line. */
async function explained(work: () => Promise<void>): Promise<number> {
  try {
    await work()
    return 0
  } catch (error) {
    if (!(error instanceof SetupProblem || isOfSystem(error))) throw error
    process.stderr.write(`✗ ${error.message}\n`)
    return 1
  }
}

/** An error of the operating system, such as a full disk, or of PostgreSQL. */
const isOfSystem = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'
