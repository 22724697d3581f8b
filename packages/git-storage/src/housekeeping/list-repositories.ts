import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** A folder of a repository below the storage root. */
export interface FoundRepository {
  /** Path of the repository to which the folder belongs. */
  diskPath: string
  /** Path of the folder: `diskPath`, or that and a suffix of an unfinished copy, creation or deletion. */
  path: string
  /**
   * Whether the folder belongs to a creation or a deletion. When such a folder is old, its process has ended,
   * and nothing ever reads it.
   */
  isLeftover: boolean
}

const hashed = '@hashed'
const shard = /^[0-9a-f]{2}$/
const named =
  /^(?<repository>[0-9a-f]{64}\.git)(?:\.arriving)?(?<leftover>\.[0-9a-f-]{36}\.(?:new|removed))?$/

/**
 * Lists the folders of repositories, in one part for each of the 65,536 folders that their paths spread over.
 */
export async function* listRepositories(storageRoot: string): AsyncGenerator<FoundRepository[]> {
  for (const first of await shardsOf(join(storageRoot, hashed))) {
    for (const second of await shardsOf(join(storageRoot, hashed, first))) {
      const folder = `${hashed}/${first}/${second}`
      const found = (await namesIn(join(storageRoot, folder))).flatMap((name) => {
        const { repository, leftover } = named.exec(name)?.groups ?? {}
        if (repository === undefined) return []
        const isLeftover = leftover !== undefined
        return { diskPath: `${folder}/${repository}`, path: `${folder}/${name}`, isLeftover }
      })
      if (found.length > 0) yield found
    }
  }
}

const shardsOf = async (folder: string) => (await namesIn(folder)).filter((name) => shard.test(name))

/**
 * Lists the names in a folder, with `recursive` also those in its folders; none when there is no such folder.
 */
export async function namesIn(folder: string, { recursive = false } = {}): Promise<string[]> {
  return readdir(folder, { recursive }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw error
  })
}

/**
 * Returns whether a file was not written, or no entry of a folder added or removed, since a time. False when
 * it does not exist.
 */
export async function isUntouchedSince(path: string, time: Date): Promise<boolean> {
  const found = await stat(path).catch(() => null)
  return found !== null && found.mtimeMs < time.getTime()
}

/** Returns whether a repository never had an object. */
export async function hasNoObjects(path: string): Promise<boolean> {
  const objects = join(path, 'objects')
  const [names, packs] = await Promise.all([namesIn(objects), namesIn(join(objects, 'pack'))])
  return packs.length === 0 && names.every((name) => name === 'info' || name === 'pack')
}
