import { createProgress } from '@switchyard/terminal'
import { createBackup } from './create-backup.js'
import { readLocations } from './data-locations.js'
import { refuseDamage } from './find-damage.js'
import { isSolvable } from './is-solvable.js'
import { keepCopies } from './keep-copies.js'
import { getManifest, type Manifest } from './manifest.js'
import { restoreBackup } from './restore-backup.js'
import { restoreProject } from './restore-project.js'

export interface CommandOptions {
  /** The folder of the checkout. */
  root: string
  /** The version of Switchyard. */
  version: string
  folder: string
}

const locationsOf = (root: string) => readLocations(root, process.env)

/**
 * Backs up into a folder.
 *
 * @returns the exit code
 */
export const runBackup = ({ root, version, folder }: CommandOptions): Promise<number> =>
  run(async () => {
    const locations = locationsOf(root)
    const progress = createProgress()
    const manifest = await createBackup({ locations, folder, version, progress })
    if (locations.copies) await keepCopies(folder, locations.copies, progress)
    return `${folder} has everything up to ${summaryOf(manifest)}`
  })

/**
 * Reads a backup and reports whether it is undamaged.
 *
 * @returns the exit code
 */
export const runCheck = ({ folder }: Pick<CommandOptions, 'folder'>): Promise<number> =>
  run(async () => {
    const manifest = await getManifest(folder)
    const advice = 'Remove that path and back up again'
    await createProgress().step('check of the backup', () => refuseDamage(folder, manifest, advice))
    return `${folder} is undamaged and has everything up to ${summaryOf(manifest)}`
  })

/**
 * Restores a backup into an empty installation.
 *
 * @returns the exit code
 */
export const runRestore = ({ root, folder }: CommandOptions): Promise<number> =>
  run(async () => {
    const locations = locationsOf(root)
    const manifest = await restoreBackup({ locations, folder, progress: createProgress() })
    return `restored everything up to ${summaryOf(manifest)}`
  })

/** Path of a project in the backup, and its new path `as`. Unset: the same path. */
export interface ProjectPaths {
  project: string
  as?: string | undefined
}

/**
 * Adds one project of a backup to a running installation.
 *
 * @returns the exit code
 */
export const runRestoreProject = (
  { root, folder }: CommandOptions,
  { project: from, as: to = from }: ProjectPaths,
): Promise<number> =>
  run(async () => {
    const options = { locations: locationsOf(root), folder, progress: createProgress(), from, to }
    const { id, rows, cut } = await restoreProject(options)
    return `restored ${from} as ${to}, project ${id}, with everything up to ${cut}: ${rows} rows`
  })

function summaryOf({ cut, database, repositories, lfsObjects }: Manifest): string {
  const rows = database.tables.reduce((sum, table) => sum + table.rows, 0)
  return `${cut}: ${rows} rows, ${repositories.length} repositories, ${lfsObjects.objects} LFS objects`
}

/** Prints the result of `work`, or one line about a problem that the user can solve. */
async function run(work: () => Promise<string>): Promise<number> {
  try {
    process.stdout.write(`${await work()}\n`)
    return 0
  } catch (error) {
    if (!isSolvable(error)) throw error
    process.stderr.write(`✗ ${error.message}\n`)
    return 1
  }
}
