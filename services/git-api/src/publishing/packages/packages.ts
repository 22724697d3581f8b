import { type Database, inTransaction, type Package, type Rows } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import type { LfsObject } from '@switchyard/domain/commit'
import type { Call } from '@switchyard/service-kit/http'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import { noteFile, receiveFile, type StoredFileDependencies } from '../stored-files/stored-files.js'
import type { FilePath, FileQuery, PackageQuery, PackageStatus, StoredPackageFile } from './store.js'
import * as store from './store.js'

export interface PackageDependencies extends ProjectResourceDependencies, StoredFileDependencies {
  /** Size of the largest file of a package. */
  packageFileBytesMax: number
}

/** GitLab's names of generic packages. */
export const packageNamePattern = /^[A-Za-z0-9._+-]{1,255}$/
export const packageVersionPattern = /^(?!.*\.\.)[\w.+-]{1,255}$/
/** Names of files may contain folders, but not `.` and `..`. */
export const fileNamePattern = /^(?=.{1,255}$)(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\w.+~@-]+(?:\/[\w.+~@-]+)*$/

/** The path of a file within its project. */
export type PathInProject = Omit<FilePath, 'projectId'>

/**
 * Stores a file of a package while it arrives.
 *
 * @throws DomainError as {@link receiveFile} and {@link noteFile}
 */
export async function publishFile(
  deps: PackageDependencies,
  access: ProjectCall<Caller>,
  { status, ...path }: PathInProject & { status: PackageStatus | undefined },
  incoming: { chunks: AsyncIterable<Buffer>; announcedBytes: number | undefined },
  call: Call,
): Promise<StoredPackageFile> {
  const { project, caller } = access
  const bytesMax = deps.packageFileBytesMax
  const object = await receiveFile(deps, access, { ...incoming, bytesMax }, call)
  const file = await noteFile(deps.database, call, (transaction) =>
    store.addPackageFile(
      transaction,
      { ...path, projectId: project.id },
      { object, creatorId: caller.user.id, status },
    ),
  )
  deps.messages.requestHousekeeping(project.id)
  return file
}

/** Returns the newest file of a name. @throws DomainError not-found */
export async function getFile(
  database: Database,
  { project }: Pick<ProjectCall, 'project'>,
  path: PathInProject,
): Promise<StoredPackageFile> {
  const file = await store.findPackageFile(database, { ...path, projectId: project.id })
  if (!file) throw notFound('Package')
  return file
}

/**
 * Returns the objects of the newest files at some paths, by the index of the path. A path without a file is
 * left out.
 */
export const findObjects = (
  database: Database,
  { project }: Pick<ProjectCall, 'project'>,
  paths: readonly PathInProject[],
): Promise<Map<number, LfsObject>> => store.findPackageObjects(database, project.id, paths)

/** Deletes every file of a name. @throws DomainError not-found */
export async function removeFiles(
  deps: PackageDependencies,
  access: ProjectCall,
  path: PathInProject,
): Promise<void> {
  const { projectId, packageId, fileName } = await getFile(deps.database, access, path)
  await removeFrom(deps, { projectId, id: packageId }, { fileName })
}

/** Deletes a file. @throws DomainError not-found */
export async function removeFile(
  deps: PackageDependencies,
  access: ProjectCall,
  { packageId, fileId }: { packageId: number; fileId: number },
): Promise<void> {
  await removeFrom(deps, await getStoredPackage(deps.database, access, packageId), { id: fileId })
}

async function removeFrom(
  { database, messages }: PackageDependencies,
  made: Pick<Package, 'projectId' | 'id'>,
  file: Parameters<typeof store.deletePackageFiles>[2],
): Promise<void> {
  const isRemoved = await inTransaction(database, (transaction) =>
    store.deletePackageFiles(transaction, made, file),
  )
  if (!isRemoved) throw notFound('Package File')
  messages.requestHousekeeping(made.projectId)
}

export const listPackages = (
  database: Database,
  { project }: ProjectCall,
  query: Omit<PackageQuery, 'projectId'>,
  rows: Rows,
): Promise<{ packages: Package[]; total: number }> =>
  store.listPackages(database, { ...query, projectId: project.id }, rows)

const versionsMax = 100

/** Returns a package and its other versions. @throws DomainError not-found */
export async function getPackage(
  database: Database,
  access: ProjectCall,
  id: number,
): Promise<{ found: Package; versions: Package[] }> {
  const found = await getStoredPackage(database, access, id)
  return { found, versions: await store.listVersions(database, found, versionsMax) }
}

/** Deletes a package with its files. @throws DomainError not-found */
export async function removePackage(
  { database, messages }: PackageDependencies,
  { project }: ProjectCall,
  id: number,
): Promise<void> {
  const isRemoved = await inTransaction(database, (transaction) =>
    store.deletePackage(transaction, project.id, id),
  )
  if (!isRemoved) throw notFound('Package')
  messages.requestHousekeeping(project.id)
}

/** Returns one page of the files of a package, and the number of all. @throws DomainError not-found */
export async function listFiles(
  database: Database,
  access: ProjectCall,
  { id, ...query }: FileQuery & { id: number },
  rows: Rows,
): Promise<{ files: StoredPackageFile[]; total: number }> {
  return store.listPackageFiles(database, await getStoredPackage(database, access, id), query, rows)
}

async function getStoredPackage(database: Database, { project }: ProjectCall, id: number): Promise<Package> {
  const found = await store.findPackage(database, project.id, id)
  if (!found) throw notFound('Package')
  return found
}
