import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase, type Database, recordLfsObjects } from '@switchyard/db'
import { createGit, type Git } from '@switchyard/git-storage/git'
import { storeFile, storeLfsObject } from '@switchyard/git-storage/lfs'
import { keepCommit } from '@switchyard/git-storage/references'
import {
  createGitRepository,
  createProject,
  createTestDatabase,
  createUser,
  type TestDatabase,
  type TestGitRepository,
} from '@switchyard/testing'
import { type BackupOptions, createBackup } from '../src/create-backup.js'
import type { DataLocations } from '../src/data-locations.js'
import type { Manifest } from '../src/manifest.js'
import { restoreBackup } from '../src/restore-backup.js'

/** The output of the commands. */
export const told: string[] = []
export const progress: BackupOptions['progress'] = {
  step: (_label, work) => work(),
  notice: (line) => void told.push(line),
}

export interface Installation {
  url: string
  urlOf: TestDatabase['urlOf']
  database: Database
  git: Git
  storageRoot: string
  close(): Promise<void>
}

/** Creates an installation with its own database and folder of repositories. */
export async function createInstallation({ migrated = true } = {}): Promise<Installation> {
  const storageRoot = await mkdtemp(join(tmpdir(), 'switchyard-backup-storage-'))
  const { url, urlOf, close } = await createTestDatabase()
  const database = createDatabase({ url, poolSizeMax: 2, applicationName: 'test' })
  if (!migrated) await database.pool.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
  const git = createGit(storageRoot)
  return {
    url,
    urlOf,
    database,
    git,
    storageRoot,
    async close() {
      git.close()
      await database.close()
      await close()
      await rm(storageRoot, { recursive: true, force: true })
    },
  }
}

export const locationsOf = ({ url, storageRoot }: Installation): DataLocations => ({
  databaseUrl: url,
  storageRoots: new Map([['default', storageRoot]]),
  dataDir: null,
  metricsFile: null,
  copies: null,
})

export const backUp = (installation: Installation, folder: string): Promise<Manifest> =>
  backUpFrom(locationsOf(installation), folder)

export const backUpFrom = (locations: DataLocations, folder: string): Promise<Manifest> =>
  createBackup({ locations, folder, version: '1.2.3', progress })

export const restoreInto = (locations: DataLocations, folder: string): Promise<Manifest> =>
  restoreBackup({ locations, folder, progress })

export const restore = (installation: Installation, folder: string): Promise<Manifest> =>
  restoreInto(locationsOf(installation), folder)

export interface FilledProject {
  id: number
  diskPath: string
  work: TestGitRepository
  oid: string
}

/** Creates a project with a branch, a tag, a commit that only a hidden reference keeps, and an LFS object. */
export async function addProject({ database, git, storageRoot }: Installation): Promise<FilledProject> {
  const project = await createProject(database, await createUser(database), { defaultBranch: 'trunk' })
  await git.createRepository(project.diskPath, 'trunk')
  const work = await createGitRepository({ defaultBranch: 'trunk' })
  await work.commit({ files: { 'a.txt': randomBytes(8).toString('hex') } })
  const kept = await work.commit({ files: { 'b.txt': 'only kept' } })
  await work.git('push', join(storageRoot, project.diskPath), 'trunk')
  await work.git('reset', '--hard', 'HEAD~1')
  await work.git('-c', 'user.name=T', '-c', 'user.email=t@example.com', 'tag', '-a', '-m', 'first', 'trunk')
  const repository = git.open(project)
  await keepCommit(repository, kept)
  await work.git('push', '--force', join(storageRoot, project.diskPath), 'refs/heads/trunk', '--tags')
  const bytes = randomBytes(100_000)
  const oid = createHash('sha256').update(bytes).digest('hex')
  await storeLfsObject(
    repository,
    { oid, size: bytes.length },
    (async function* () {
      yield bytes
    })(),
  )
  await recordLfsObjects(database, project.id, [{ oid, size: bytes.length }])
  return { id: project.id, diskPath: project.diskPath, work, oid }
}

/**
 * Adds a file that is both a package file and an upload.
 *
 * @returns its SHA-256
 */
export async function addFile(
  { database, git }: Installation,
  { id: projectId, diskPath }: FilledProject,
): Promise<string> {
  const repository = git.open({ diskPath })
  async function* chunks() {
    yield randomBytes(2000)
  }
  const file = await storeFile(repository, chunks(), { bytesMax: 2000, admit: async () => {} })
  await recordLfsObjects(database, projectId, [file])
  const { id: packageId } = await database.prisma.package.create({
    data: { projectId, name: 'app', version: '1' },
  })
  await database.prisma.packageFile.create({
    data: { projectId, packageId, fileName: 'app.zip', oid: file.oid },
  })
  await database.prisma.upload.create({
    data: { projectId, secret: randomBytes(16).toString('hex'), fileName: 'a.zip', oid: file.oid },
  })
  return file.oid
}
