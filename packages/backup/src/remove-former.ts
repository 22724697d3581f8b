import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { namesIn } from './files.js'
import { lfsListFile, type Manifest, mirrorOf, runFolderOf } from './manifest.js'
import { readObjectList } from './storage/lfs-objects.js'
import { tidyMirror } from './storage/mirror.js'

/** Removes the files that only earlier or interrupted backups need. */
export async function removeFormer(folder: string, { run, repositories }: Manifest): Promise<void> {
  for (const name of await namesIn(join(folder, 'runs')))
    if (name !== run) await rm(runFolderOf(folder, name), { recursive: true, force: true })
  const mirrors = new Set(repositories.map(({ diskPath }) => mirrorOf(folder, diskPath)))
  await removeOthers(join(folder, 'repositories', '@hashed'), (path) => mirrors.has(path))
  for (const repository of repositories) await tidyMirror(folder, repository, run)
  const oids = new Set<string>()
  for await (const { oid } of readObjectList(join(runFolderOf(folder, run), lfsListFile))) oids.add(oid)
  await removeOthers(join(folder, 'lfs'), (_path, name) => oids.has(name))
}

/** Removes the entries of the folders `<first>/<second>`, except those that are kept. */
async function removeOthers(root: string, isKept: (path: string, name: string) => boolean): Promise<void> {
  for (const first of await namesIn(root))
    for (const second of await namesIn(join(root, first)))
      for (const name of await namesIn(join(root, first, second))) {
        const path = join(root, first, second, name)
        if (!isKept(path, name)) await rm(path, { recursive: true, force: true })
      }
}
