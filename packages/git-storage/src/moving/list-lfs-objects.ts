import { readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { isLfsOid, type LfsObject } from '@switchyard/domain/commit'
import { lfsObjects } from '../lfs-objects.js'

/** Every stored object of Git LFS of a repository. */
export async function listLfsObjects({ path }: { path: string }): Promise<LfsObject[]> {
  const folder = join(path, lfsObjects)
  const names = await readdir(folder, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const objects: LfsObject[] = []
  for (const name of names) {
    const oid = basename(name)
    if (isLfsOid(oid)) objects.push({ oid, size: (await stat(join(folder, name))).size })
  }
  return objects
}
