import {
  type DatabaseOrTransaction,
  type PrismaTransaction,
  type Rows,
  recordLfsObjects,
  releaseLfsObjects,
  type Upload,
  type User,
} from '@switchyard/db'
import type { LfsObject } from '@switchyard/domain/commit'

/** An upload with its size in bytes and its author. */
export type StoredUpload = Upload & {
  object: { size: bigint }
  uploader: Pick<User, 'id' | 'username' | 'name'> | null
}

const withSizeAndUploader = {
  object: { select: { size: true } },
  uploader: { select: { id: true, username: true, name: true } },
} as const

/** Stores the rows of a file and its object. */
export async function createUpload(
  transaction: PrismaTransaction,
  upload: Pick<Upload, 'projectId' | 'secret' | 'fileName' | 'uploaderId'>,
  object: LfsObject,
): Promise<Upload> {
  await recordLfsObjects(transaction, upload.projectId, [object])
  return transaction.prisma.upload.create({ data: { ...upload, oid: object.oid } })
}

/** Returns one page of the uploads of a project, newest first, and the number of all. */
export async function listUploads(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  rows: Rows,
): Promise<{ uploads: StoredUpload[]; total: number }> {
  const where = { projectId }
  const [uploads, total] = await Promise.all([
    prisma.upload.findMany({ where, include: withSizeAndUploader, orderBy: { id: 'desc' }, ...rows }),
    prisma.upload.count({ where }),
  ])
  return { uploads, total }
}

/** The id of an upload, or the secret and the file name in its address. */
export type UploadKey = { id: number } | Pick<Upload, 'secret' | 'fileName'>

export const findUpload = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  key: UploadKey,
): Promise<Upload | null> => prisma.upload.findFirst({ where: { projectId, ...key } })

/** Lists uploads by their addresses, with their sizes. */
export const listUploadsBySecret = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  secrets: readonly string[],
): Promise<StoredUpload[]> =>
  prisma.upload.findMany({ where: { projectId, secret: { in: [...secrets] } }, include: withSizeAndUploader })

/** Deletes an upload and frees its quota. @returns whether there was such an upload */
export async function deleteUpload(
  transaction: PrismaTransaction,
  projectId: number,
  key: UploadKey,
): Promise<boolean> {
  const upload = await findUpload(transaction, projectId, key)
  if (!upload) return false
  const { count } = await transaction.prisma.upload.deleteMany({ where: { projectId, id: upload.id } })
  await releaseLfsObjects(transaction, projectId, [upload.oid])
  return count > 0
}
