import { join } from 'node:path'
import { SetupProblem } from '@switchyard/dev-env'
import { hashFile } from './files.js'
import { lfsFileOf, lfsListFile, type Manifest, runFolderOf, tableFileOf } from './manifest.js'
import { readObjectList } from './storage/lfs-objects.js'
import { findDamage } from './storage/mirror.js'

/** Reads the whole backup. @throws SetupProblem for the first file or repository that is not what the manifest says */
export async function checkBackup(folder: string, manifest: Manifest): Promise<void> {
  const runFolder = runFolderOf(folder, manifest.run)
  const files = [
    ...manifest.database.tables.map(({ name, sha256 }) => ({ name: tableFileOf(name), sha256 })),
    { name: lfsListFile, sha256: manifest.lfsObjects.sha256 },
    ...manifest.secrets,
  ]
  for (const { name, sha256 } of files) await checkFile(join(runFolder, name), sha256)
  for await (const { oid } of readObjectList(join(runFolder, lfsListFile)))
    await checkFile(lfsFileOf(folder, oid), oid)
  for (const repository of manifest.repositories) {
    const damage = await findDamage(folder, repository)
    if (damage !== null)
      throw new SetupProblem(`The backup is damaged: ${repository.diskPath}: ${damage}. Nothing was restored`)
  }
}

async function checkFile(file: string, sha256: string): Promise<void> {
  const found = await hashFile(file)
  if (found === sha256) return
  const damage = found === null ? 'is missing' : 'has another checksum'
  throw new SetupProblem(`The backup is damaged: ${file} ${damage}. Nothing was restored`)
}
