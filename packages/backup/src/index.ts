import { createProgress, SetupProblem } from '@switchyard/dev-env'
import { createBackup } from './create-backup.js'
import { findDamage } from './find-damage.js'
import { isSolvable } from './is-solvable.js'
import { getManifest, type Manifest } from './manifest.js'
import { readPlace } from './place.js'
import { restoreBackup } from './restore-backup.js'

export interface CommandOptions {
  /** The folder of the checkout. */
  root: string
  /** The version of Switchyard. */
  version: string
  /** The folder of the backup. */
  folder: string | undefined
}

const placeOf = (root: string) => readPlace(root, process.env)

/** `pnpm backup FOLDER`. @returns the exit code */
export const runBackup = ({ root, version, folder }: CommandOptions): Promise<number> =>
  run('backup', folder, async (named) => {
    const place = placeOf(root)
    const manifest = await createBackup({ place, folder: named, version, progress: createProgress() })
    return `${named} has everything up to ${describe(manifest)}`
  })

/** `pnpm backup --check FOLDER`. @returns the exit code */
export const runCheck = ({ folder }: Pick<CommandOptions, 'folder'>): Promise<number> =>
  run('backup --check', folder, async (named) => {
    const manifest = await getManifest(named)
    const damage = await createProgress().step('check of the backup', () => findDamage(named, manifest))
    if (damage === null) return `${named} is undamaged and has everything up to ${describe(manifest)}`
    throw new SetupProblem(`The backup is damaged: ${damage}. Remove that path and back up again`)
  })

/** `pnpm restore FOLDER`. @returns the exit code */
export const runRestore = ({ root, folder }: CommandOptions): Promise<number> =>
  run('restore', folder, async (named) => {
    const place = placeOf(root)
    const manifest = await restoreBackup({ place, folder: named, progress: createProgress() })
    return `restored everything up to ${describe(manifest)}`
  })

function describe({ cut, database, repositories, lfsObjects }: Manifest): string {
  const rows = database.tables.reduce((sum, table) => sum + table.rows, 0)
  return `${cut}: ${rows} rows, ${repositories.length} repositories, ${lfsObjects.objects} LFS objects`
}

/** Prints what `work` returns, or in one line a problem that the user can solve. */
async function run(
  command: string,
  folder: string | undefined,
  work: (folder: string) => Promise<string>,
): Promise<number> {
  try {
    if (!folder) throw new SetupProblem(`Name the folder of the backup: pnpm ${command} FOLDER`)
    process.stdout.write(`${await work(folder)}\n`)
    return 0
  } catch (error) {
    if (!isSolvable(error)) throw error
    process.stderr.write(`✗ ${error.message}\n`)
    return 1
  }
}
