import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '@switchyard/config'
import { type Progress, SolvableProblem } from '@switchyard/terminal'
import {
  type DataLocations,
  defaultStorage,
  rootOf,
  rootOfRepository,
  runningDatabaseOf,
  secretFiles,
} from './data-locations.js'
import { dumpDatabase, lfsRowsFile, listStorages, type StoredRepository } from './database/dump-database.js'
import { withBackupLock } from './database/with-client.js'
import { hashFile, namesIn, syncFileSystem, writeCompressed, writeFlushed } from './files.js'
import {
  findManifest,
  lfsListFile,
  type Manifest,
  type MirroredRepository,
  runFolderOf,
  writeManifest,
} from './manifest.js'
import { removeFormer } from './remove-former.js'
import { keepObject, readObjectList, toLine } from './storage/lfs-objects.js'
import { mirrorRepository } from './storage/mirror.js'

export interface BackupOptions {
  locations: DataLocations
  /** Folder of the backup: new, empty, or with an earlier backup of the same installation. */
  folder: string
  /** The version of Switchyard. */
  version: string
  progress: Progress
}

/**
 * Backs up an installation that may run. The cut is the moment of the database's snapshot. Repositories and
 * LFS objects are copied after it, so that everything that a row names is in the backup. The previous backup
 * in the folder stays valid until this one is complete.
 *
 * @throws SolvableProblem while another backup of the installation runs, on any machine
 */
export async function createBackup(options: BackupOptions): Promise<Manifest> {
  const url = runningDatabaseOf(options.locations)
  return await withBackupLock(url, () => backUp(url, options))
}

async function backUp(
  url: string,
  { locations, folder, version, progress }: BackupOptions,
): Promise<Manifest> {
  const former = await findManifest(folder)
  if (!former) await refuseOtherFiles(folder)
  for (const storage of await listStorages(url)) rootOf(locations, storage)
  const now = new Date()
  const run = now.toISOString().replaceAll(/[:.]/g, '-')
  const runFolder = runFolderOf(folder, run)
  makeFolder(runFolder)

  const { cut, stored, ...database } = await progress.step('database', () => dumpDatabase(url, runFolder))
  const repositories = await progress.step('repositories', () =>
    mirrorAll({ folder, locations, run }, stored, former),
  )
  const mirrored = new Set(repositories.map(({ diskPath }) => diskPath))
  const withoutRepository = stored.map(({ diskPath }) => diskPath).filter((path) => !mirrored.has(path))
  const storages = Object.fromEntries(stored.flatMap(elsewhere))
  const lfs = await progress.step('LFS objects', () =>
    keepObjects(folder, runFolder, { locations, storages }),
  )
  const secrets = await keepSecrets(locations, runFolder)
  const manifest: Manifest = {
    format: 2,
    version,
    cut: cut.toISOString(),
    run,
    database,
    repositories,
    storages,
    withoutRepository,
    lfsObjects: { objects: lfs.objects, sha256: lfs.sha256 },
    secrets,
  }
  await syncFileSystem(folder)
  await writeManifest(folder, manifest)
  await syncFileSystem(folder)
  await progress.step('files of the former backup', () => removeFormer(folder, manifest))
  if (locations.metricsFile) await writeMetrics(locations.metricsFile, cut)
  reportLosses(progress, withoutRepository, lfs.missing)
  return manifest
}

/** Writes the file by a rename, so that Prometheus never reads an incomplete file. */
async function writeMetrics(file: string, cut: Date): Promise<void> {
  const name = 'switchyard_backup_cut_timestamp_seconds'
  const text = `# HELP ${name} Everything that was acknowledged before is in the last backup.
# TYPE ${name} gauge
${name} ${cut.getTime() / 1000}
`
  await writeFile(`${file}.new`, text, { mode: 0o644 })
  await rename(`${file}.new`, file)
}

const ownNames = new Set(['runs', 'repositories', 'lfs', 'manifest.json.new'])

/** Refuses a folder with other files. The remains of an interrupted first backup are allowed. */
async function refuseOtherFiles(folder: string): Promise<void> {
  const other = (await namesIn(folder)).find((name) => !ownNames.has(name))
  if (other !== undefined)
    throw new SolvableProblem(`${folder} holds other files, such as ${other}: choose an empty folder`)
}

const elsewhere = ({ diskPath, storage }: StoredRepository) =>
  storage === defaultStorage ? [] : [[diskPath, storage] as const]

async function mirrorAll(
  { locations, ...target }: { locations: DataLocations; folder: string; run: string },
  stored: StoredRepository[],
  former: Manifest | null,
): Promise<MirroredRepository[]> {
  const known = new Map(former?.repositories.map((repository) => [repository.diskPath, repository]))
  const mirrored: MirroredRepository[] = []
  for (const { diskPath, storage } of stored) {
    const source = { ...target, storageRoot: rootOf(locations, storage) }
    const repository = await mirrorRepository(source, diskPath, known.get(diskPath))
    if (repository) mirrored.push(repository)
  }
  return mirrored
}

async function keepObjects(
  folder: string,
  runFolder: string,
  { locations, storages }: { locations: DataLocations } & Pick<Manifest, 'storages'>,
) {
  const rows = join(runFolder, lfsRowsFile)
  const found = { objects: 0, missing: 0 }
  async function* kept() {
    for await (const object of readObjectList(rows)) {
      const storageRoot = rootOfRepository(locations, storages, object.diskPath)
      const isThere = await keepObject(folder, storageRoot, object)
      found[isThere ? 'objects' : 'missing'] += 1
      if (isThere) yield toLine(object)
    }
  }
  const sha256 = await writeCompressed(join(runFolder, lfsListFile), kept())
  await rm(rows)
  return { ...found, sha256 }
}

async function keepSecrets({ dataDir }: DataLocations, runFolder: string): Promise<Manifest['secrets']> {
  const secrets: Manifest['secrets'] = []
  for (const name of dataDir ? secretFiles : []) {
    const content = await readFile(join(dataDir ?? '', name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    if (content === null) continue
    await writeFlushed(join(runFolder, name), content)
    secrets.push({ name, sha256: (await hashFile(join(runFolder, name))) ?? '' })
  }
  return secrets
}

function reportLosses(progress: Progress, withoutRepository: string[], missingObjects: number): void {
  for (const path of withoutRepository)
    progress.notice(`the project of ${path} has no repository: it was deleted during the backup`)
  if (missingObjects > 0) progress.notice(`${missingObjects} LFS objects are missing in the repositories`)
}
