import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { objectsOf } from '../neutral-repository.js'
import type { Repository } from '../repository.js'
import { syncFolder, unlessMissing } from './durable-files.js'
import { NewObjects } from './new-objects.js'

/**
 * A folder for new objects that no reference may lead to yet, like the quarantine of a push in git. Its
 * variables let git see them together with all stored objects.
 */
export interface Quarantine {
  /** Folder of the new objects. */
  objectsPath: string
  objects: NewObjects
  variables: Record<string, string>
}

/**
 * Runs work whose new objects are invisible to others and removed afterwards. If this process is killed,
 * housekeeping recognizes the folder by its name and removes it.
 */
export async function withQuarantine<Result>(
  { path }: Repository,
  work: (quarantine: Quarantine) => Promise<Result>,
): Promise<Result> {
  const variables = objectsOf(path)
  const stored = variables.GIT_OBJECT_DIRECTORY
  const aside = await mkdtemp(join(stored, 'tmp_objdir-aside-'))
  const objectsPath = join(aside, 'objects')
  try {
    await mkdir(objectsPath)
    return await work({
      objectsPath,
      objects: new NewObjects(aside),
      variables: {
        ...variables,
        GIT_OBJECT_DIRECTORY: objectsPath,
        GIT_ALTERNATE_OBJECT_DIRECTORIES: stored,
      },
    })
  } finally {
    await rm(aside, { recursive: true, force: true })
  }
}

/**
 * Moves the loose objects of a quarantine to the repository. They are durable when the promise resolves.
 *
 * @throws what `takeSpace` of the repository throws
 */
export async function migrateObjects(
  { path, takeSpace }: Repository,
  { objectsPath }: Quarantine,
): Promise<void> {
  const files = (await readdir(objectsPath, { recursive: true })).filter((name) => looseObject.test(name))
  if (files.length === 0) return
  const sizes = await Promise.all(files.map(async (name) => (await stat(join(objectsPath, name))).size))
  await takeSpace(sizes.reduce((sum, size) => sum + size, 0))
  const target = objectsOf(path).GIT_OBJECT_DIRECTORY
  for (const name of files) await keepFile(join(objectsPath, name), target, name)
  const folders = new Set(files.map((name) => join(target, name.slice(0, 2))))
  // A missing folder was removed by housekeeping after its objects were packed durably.
  for (const folder of [...folders, target]) await syncFolder(folder).catch(unlessMissing)
}

const looseObject = /^[0-9a-f]{2}\/[0-9a-f]{38}$/

/**
 * Most attempts to move a file. Housekeeping removes empty folders, so a new folder may vanish before the
 * file is in it, several times in a row.
 */
const attemptsMax = 50

async function keepFile(file: string, target: string, name: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    await mkdir(join(target, name.slice(0, 2)), { recursive: true })
    try {
      return await rename(file, join(target, name))
    } catch (error) {
      if (attempt === attemptsMax) throw error
      unlessMissing(error)
    }
  }
}
