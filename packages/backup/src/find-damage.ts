import { join } from 'node:path'
import { SolvableProblem } from '@switchyard/terminal'
import { hashFile } from './files.js'
import { lfsFileOf, lfsListFile, type Manifest, mirrorOf, runFolderOf, tableFileOf } from './manifest.js'
import { readObjectList } from './storage/lfs-objects.js'
import { findMirrorDamage } from './storage/mirror.js'

/** A function that returns whether the objects of Git LFS of a repository are read. */
type IsRead = (diskPath: string) => boolean

/**
 * Reads everything that a manifest names, and refuses damage.
 *
 * @param advice the sentence after the damaged path
 * @param isRead which repositories' objects of Git LFS are read; unset: those of all
 * @throws SolvableProblem with the first path that differs from the manifest, and the reason
 */
export async function refuseDamage(
  folder: string,
  manifest: Manifest,
  advice: string,
  isRead: IsRead = () => true,
): Promise<void> {
  const damage = await findDamage(folder, manifest, isRead)
  if (damage !== null) throw new SolvableProblem(`The backup is damaged: ${damage}. ${advice}`)
}

async function findDamage(folder: string, manifest: Manifest, isRead: IsRead): Promise<string | null> {
  for await (const { file, sha256 } of filesOf(folder, manifest, isRead)) {
    const found = await hashFile(file)
    if (found !== sha256) return `${file} ${found === null ? 'is missing' : 'has another checksum'}`
  }
  for (const repository of manifest.repositories) {
    const damage = await findMirrorDamage(folder, repository)
    if (damage !== null) return `${mirrorOf(folder, repository.diskPath)}: ${damage}`
  }
  return null
}

/**
 * Lists the files. The list of LFS objects comes before the objects, so that a damaged list is found before
 * it is read.
 */
async function* filesOf(folder: string, { run, database, lfsObjects, secrets }: Manifest, isRead: IsRead) {
  const runFolder = runFolderOf(folder, run)
  const list = join(runFolder, lfsListFile)
  for (const { name, sha256 } of database.tables) yield { file: join(runFolder, tableFileOf(name)), sha256 }
  for (const { name, sha256 } of secrets) yield { file: join(runFolder, name), sha256 }
  yield { file: list, sha256: lfsObjects.sha256 }
  for await (const { oid, diskPath } of readObjectList(list))
    if (isRead(diskPath)) yield { file: lfsFileOf(folder, oid), sha256: oid }
}
