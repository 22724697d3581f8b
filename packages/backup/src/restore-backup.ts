import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '@switchyard/config'
import { listShippedMigrations } from '@switchyard/db/migrations'
import { createGit } from '@switchyard/git-storage/git'
import { claimDataFolder, startPostgres } from '@switchyard/local-servers'
import { type Progress, SolvableProblem } from '@switchyard/terminal'
import {
  type DataLocations,
  defaultStorage,
  rootOf,
  rootOfRepository,
  secretFiles,
} from './data-locations.js'
import { createSchema, loadRows, refuseTables } from './database/load-database.js'
import { namesIn, syncFileSystem, writeFlushed } from './files.js'
import { refuseDamage } from './find-damage.js'
import { getManifest, lfsListFile, type Manifest, runFolderOf } from './manifest.js'
import { readObjectList, restoreObject } from './storage/lfs-objects.js'
import { restoreRepository } from './storage/mirror.js'

export interface RestoreOptions {
  /** An empty installation that does not run. */
  locations: DataLocations
  folder: string
  progress: Progress
}

/**
 * Restores a backup into an empty installation. Everything is checked before anything is written. The rows of
 * the database come last, in one transaction, so that an interrupted restore does not look complete.
 */
export async function restoreBackup({ locations, folder, progress }: RestoreOptions): Promise<Manifest> {
  const manifest = await getManifest(folder)
  await refuseOtherSchema(manifest)
  for (const storage of storagesOf(manifest)) rootOf(locations, storage)
  await refuseFiles(locations)
  if (locations.databaseUrl) await refuseTables(locations.databaseUrl)
  await progress.step('check of the backup', () => refuseDamage(folder, manifest, 'Nothing was restored'))

  await withDatabase(locations, progress, async (url) => {
    await refuseTables(url)
    const runFolder = runFolderOf(folder, manifest.run)
    await progress.step('database schema', () => createSchema(url, manifest.database))
    await progress.step('repositories', () => restoreRepositories(folder, locations, manifest))
    await progress.step('LFS objects', () => restoreObjects(folder, runFolder, locations, manifest))
    await restoreSecrets(locations, manifest, runFolder)
    for (const storageRoot of locations.storageRoots.values()) await syncFileSystem(storageRoot)
    await progress.step('rows of the database', () => loadRows(url, manifest.database, runFolder))
  })
  return manifest
}

function storagesOf({ repositories, withoutRepository, storages }: Manifest): Set<string> {
  const diskPaths = [...repositories.map(({ diskPath }) => diskPath), ...withoutRepository]
  return new Set(diskPaths.map((diskPath) => storages[diskPath] ?? defaultStorage))
}

async function refuseOtherSchema({ version, database }: Manifest): Promise<void> {
  const shipped = new Set((await listShippedMigrations()).map(({ name }) => name))
  const [baseline] = shipped
  if (!database.migrations.some((name) => name === baseline))
    throw new SolvableProblem(
      `The backup is of a Switchyard before migration ${baseline} (${version}): restore it with that version, then upgrade`,
    )
  const unknown = database.migrations.find((name) => !shipped.has(name))
  if (unknown !== undefined)
    throw new SolvableProblem(
      `The backup is of a newer Switchyard (${version}, migration ${unknown}): restore it with that version or a later one`,
    )
}

async function refuseFiles({ dataDir, databaseUrl, storageRoots }: DataLocations): Promise<void> {
  const embedded = dataDir && !databaseUrl ? [join(dataDir, 'postgres')] : []
  for (const path of [...storageRoots.values(), ...embedded]) {
    if ((await namesIn(path)).length > 0)
      throw new SolvableProblem(`${path} is not empty: restore into an empty installation`)
  }
  const kept = dataDir && (await namesIn(dataDir)).find((name) => secretFiles.includes(name))
  if (kept) throw new SolvableProblem(`${dataDir} holds ${kept} already: restore into an empty installation`)
}

/** Runs `work` with the URL of the database. An embedded server runs for the time of the work. */
async function withDatabase(
  { dataDir, databaseUrl }: DataLocations,
  progress: Progress,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const release = dataDir ? await claimDataFolder(dataDir) : () => {}
  try {
    if (databaseUrl) return await work(databaseUrl)
    const postgres = await startPostgres({ dataDir: join(dataDir ?? '', 'postgres'), log: progress.notice })
    try {
      await work(postgres.url)
    } finally {
      await postgres.stop()
    }
  } finally {
    release()
  }
}

async function restoreRepositories(
  folder: string,
  locations: DataLocations,
  { repositories, withoutRepository, storages }: Manifest,
): Promise<void> {
  for (const storageRoot of locations.storageRoots.values()) makeFolder(storageRoot)
  for (const repository of repositories)
    await restoreRepository(folder, rootOfRepository(locations, storages, repository.diskPath), repository)
  // The database has their projects, which need a repository, even an empty one.
  for (const diskPath of withoutRepository)
    await createGit(rootOfRepository(locations, storages, diskPath)).createRepository(diskPath, 'main')
}

async function restoreObjects(
  folder: string,
  runFolder: string,
  locations: DataLocations,
  { storages }: Manifest,
): Promise<void> {
  for await (const object of readObjectList(join(runFolder, lfsListFile)))
    await restoreObject(folder, rootOfRepository(locations, storages, object.diskPath), object)
}

async function restoreSecrets(
  { dataDir }: DataLocations,
  { secrets }: Manifest,
  runFolder: string,
): Promise<void> {
  if (!dataDir) return
  for (const { name } of secrets) {
    await writeFlushed(join(dataDir, name), await readFile(join(runFolder, name)))
  }
}
