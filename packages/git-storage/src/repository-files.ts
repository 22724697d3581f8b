import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { conflict } from '@switchyard/domain'
import { ended, runGitOk, spawnGit } from './processes/git-process.js'
import type { Repository } from './repository.js'

/**
 * Returns the path of a project's repository below the storage root. It is a hash of the project id, so it
 * spreads folders evenly and stays the same when the project is renamed.
 */
export function diskPathOf(projectId: number): string {
  const hash = createHash('sha256').update(String(projectId)).digest('hex')
  return `@hashed/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}.git`
}

/**
 * Creates an empty bare repository under a temporary name, and renames it when it is complete.
 *
 * @throws DomainError conflict when the folder exists already
 */
export async function createRepository(storageRoot: string, diskPath: string, defaultBranch: string) {
  const path = join(storageRoot, diskPath)
  await mkdir(dirname(path), { recursive: true })
  const temporary = `${path}.${randomUUID()}.new`
  try {
    const flags = [
      '--quiet',
      '--bare',
      '--template=',
      '--object-format=sha1',
      `--initial-branch=${defaultBranch}`,
    ]
    const child = spawnGit(['init', ...flags, '--', temporary])
    child.stdin.end()
    child.stdout.resume()
    child.stderr.resume()
    const code = await ended(child)
    if (code !== 0) throw new Error(`git init exited with ${code}`)
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { recursive: true, force: true })
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOTEMPTY' || code === 'EEXIST')
      throw conflict('The repository exists already', { cause: error })
    throw error
  }
}

/** Counts the bytes of the objects of git on disk, loose and packed. */
export async function countBytes({ path, signal }: Pick<Repository, 'path' | 'signal'>): Promise<number> {
  const { stdout } = await runGitOk(path, { command: 'count-objects', flags: ['-v'] }, { signal })
  const kibibytes = [...stdout.toString().matchAll(/^size(?:-pack)?: (\d+)$/gm)].map(([, size]) =>
    Number(size),
  )
  return 1024 * kibibytes.reduce((sum, size) => sum + size, 0)
}

/**
 * Returns whether git can count commits without walking through them, because housekeeping has written a
 * bitmap beside the largest pack.
 */
export const hasBitmap = (path: string): Promise<boolean> => hasInPacks(path, '.bitmap')

export const hasPack = (path: string): Promise<boolean> => hasInPacks(path, '.pack')

/**
 * Returns whether a pack has a file with this ending. Unfinished files of git have a name that begins with a
 * dot.
 */
async function hasInPacks(path: string, ending: string): Promise<boolean> {
  const names = await readdir(join(path, 'objects/pack')).catch(() => [])
  return names.some((name) => name.endsWith(ending) && !name.startsWith('.'))
}

/**
 * Renames a repository, so that nobody finds it any more, and then deletes its files. Does nothing when it
 * does not exist.
 */
export async function deleteRepository(storageRoot: string, diskPath: string): Promise<void> {
  const path = join(storageRoot, diskPath)
  const removed = `${path}.${randomUUID()}.removed`
  try {
    await rename(path, removed)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  await rm(removed, { recursive: true, force: true })
}
