import {
  type DatabaseOrTransaction,
  type Package,
  type PackageFile,
  type PrismaTransaction,
  type Rows,
  recordLfsObjects,
  releaseLfsObjects,
} from '@switchyard/db'
import { likeText, lockRow } from '@switchyard/db/sql'
import type { LfsObject } from '@switchyard/domain/commit'

export type PackageStatus = 'default' | 'hidden'

/** A file with its size in bytes. */
export type StoredPackageFile = PackageFile & { object: { size: bigint } }

const withSize = { object: { select: { size: true } } } as const

export interface PackageQuery {
  projectId: number
  /** Part of the name; case does not matter. */
  name: string | undefined
  version: string | undefined
  status: PackageStatus
  order: 'createdAt' | 'name' | 'version'
  descending: boolean
}

/** Returns one page of the packages of a project, and the number of all that match. */
export async function listPackages(
  { prisma }: DatabaseOrTransaction,
  { projectId, name, version, status, order, descending }: PackageQuery,
  rows: Rows,
): Promise<{ packages: Package[]; total: number }> {
  const part = name === undefined ? {} : { contains: likeText(name), mode: 'insensitive' as const }
  const where = { projectId, status, version, name: part }
  const direction = descending ? 'desc' : 'asc'
  const [packages, total] = await Promise.all([
    prisma.package.findMany({ where, orderBy: [{ [order]: direction }, { id: direction }], ...rows }),
    prisma.package.count({ where }),
  ])
  return { packages, total }
}

export const findPackage = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  id: number,
): Promise<Package | null> => prisma.package.findUnique({ where: { projectId_id: { projectId, id } } })

/** Lists the other versions of a package, newest first. */
export const listVersions = (
  { prisma }: DatabaseOrTransaction,
  { projectId, id, name }: Package,
  take: number,
): Promise<Package[]> =>
  prisma.package.findMany({
    where: { projectId, name, status: 'default', id: { not: id } },
    orderBy: { id: 'desc' },
    take,
  })

export interface FileQuery {
  order: 'id' | 'createdAt' | 'fileName'
  descending: boolean
}

/** Returns one page of the files of a package, and the number of all. */
export async function listPackageFiles(
  { prisma }: DatabaseOrTransaction,
  { projectId, id: packageId }: Package,
  { order, descending }: FileQuery,
  rows: Rows,
): Promise<{ files: StoredPackageFile[]; total: number }> {
  const where = { projectId, packageId }
  const direction = descending ? 'desc' : 'asc'
  const [files, total] = await Promise.all([
    prisma.packageFile.findMany({
      where,
      include: withSize,
      orderBy: [{ [order]: direction }, { id: direction }],
      ...rows,
    }),
    prisma.packageFile.count({ where }),
  ])
  return { files, total }
}

export interface FilePath {
  projectId: number
  name: string
  version: string
  fileName: string
}

/** Finds the newest file of a name. */
export const findPackageFile = (
  { prisma }: DatabaseOrTransaction,
  { projectId, name, version, fileName }: FilePath,
): Promise<StoredPackageFile | null> =>
  prisma.packageFile.findFirst({
    where: { projectId, fileName, package: { name, version } },
    include: withSize,
    orderBy: { id: 'desc' },
  })

/**
 * Returns the objects of the newest files at some paths, by the index of the path. A path without a file is
 * left out.
 */
export async function findPackageObjects(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  paths: readonly Omit<FilePath, 'projectId'>[],
): Promise<Map<number, LfsObject>> {
  if (paths.length === 0) return new Map()
  const names = paths.map(({ name }) => name)
  const versions = paths.map(({ version }) => version)
  const fileNames = paths.map(({ fileName }) => fileName)
  const rows = await prisma.$queryRaw<{ position: number; oid: string; size: bigint }[]>`
    SELECT DISTINCT ON (wanted.position) wanted.position::int AS position, o.oid, o.size
    FROM unnest(${names}::text[], ${versions}::text[], ${fileNames}::text[])
      WITH ORDINALITY AS wanted (name, version, file_name, position)
    JOIN packages p ON p.project_id = ${projectId} AND p.name = wanted.name AND p.version = wanted.version
    JOIN package_files f ON f.project_id = ${projectId} AND f.package_id = p.id
      AND f.file_name = wanted.file_name
    JOIN lfs_objects o ON o.project_id = ${projectId} AND o.oid = f.oid
    ORDER BY wanted.position, f.id DESC`
  return new Map(rows.map(({ position, oid, size }) => [position - 1, { oid, size: Number(size) }]))
}

/**
 * Adds a file to its package, which is created when it is missing. When the newest file of the name has the
 * same bytes, that file stays.
 */
export async function addPackageFile(
  transaction: PrismaTransaction,
  path: FilePath,
  { object, creatorId, status }: { object: LfsObject; creatorId: number; status: PackageStatus | undefined },
): Promise<StoredPackageFile> {
  const { projectId, name, version, fileName } = path
  const { prisma } = transaction
  // The update locks the row, so that no other transaction deletes the package as empty. A deletion of files
  // also locks the package before the objects.
  const { id: packageId } = await prisma.package.upsert({
    where: { projectId_name_version: { projectId, name, version } },
    create: { projectId, name, version, creatorId, status: status ?? 'default' },
    update: { name, status },
  })
  await recordLfsObjects(transaction, projectId, [object])
  const newest = await findPackageFile(transaction, path)
  if (newest?.oid === object.oid) return newest
  return prisma.packageFile.create({
    data: { projectId, packageId, fileName, oid: object.oid },
    include: withSize,
  })
}

/** Deletes a package with its files, and frees their quota. @returns whether there was such a package */
export async function deletePackage(
  transaction: PrismaTransaction,
  projectId: number,
  id: number,
): Promise<boolean> {
  await deleteFiles(transaction, { projectId, id: BigInt(id) }, {})
  const { count } = await transaction.prisma.package.deleteMany({ where: { projectId, id } })
  return count > 0
}

/**
 * Deletes every file of a name, or one file, and frees their quota. A package is deleted with its last file.
 *
 * @returns whether there was such a file
 */
export async function deletePackageFiles(
  transaction: PrismaTransaction,
  made: Pick<Package, 'projectId' | 'id'>,
  file: { fileName: string } | { id: number },
): Promise<boolean> {
  const count = await deleteFiles(transaction, made, file)
  await transaction.prisma.package.deleteMany({ where: { ...made, files: { none: {} } } })
  return count > 0
}

/** @returns the number of deleted files */
async function deleteFiles(
  transaction: PrismaTransaction,
  { projectId, id: packageId }: Pick<Package, 'projectId' | 'id'>,
  file: { fileName?: string; id?: number },
): Promise<number> {
  const { prisma } = transaction
  await lockRow(transaction, 'packages', { project_id: projectId, id: packageId }, 'UPDATE')
  const where = { projectId, packageId, ...file }
  const found = await prisma.packageFile.findMany({ where, distinct: ['oid'], select: { oid: true } })
  const { count } = await prisma.packageFile.deleteMany({ where })
  const oids = found.map(({ oid }) => oid)
  await releaseLfsObjects(transaction, projectId, oids)
  return count
}
