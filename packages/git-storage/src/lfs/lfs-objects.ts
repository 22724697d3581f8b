import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import { invalid, notFound, tooLarge } from '@switchyard/domain'
import { isLfsOid, type LfsObject } from '@switchyard/domain/commit'
import type { ByteRange } from '../files/blobs.js'
import { isUntouchedSince, namesIn } from '../housekeeping/list-repositories.js'
import { syncFolder, writeDurably } from '../objects/durable-files.js'
import { sendToClient } from '../processes/send-to-client.js'
import type { Repository } from '../repository.js'

// Objects of Git LFS are in a folder of the repository that git's own commands do not touch. Files of
// packages and of comments are objects of the same store: copies, backups, quotas and housekeeping treat them
// alike.

const uploadFolders = ['lfs', 'tmp']
/** The folder of unfinished uploads and other temporary files, relative to the repository. */
export const lfsUploads = join(...uploadFolders)

const readAtOnce = 256 * 1024

const objectsFolder = ['lfs', 'objects']
/** The folder of the objects, relative to the repository. */
export const lfsObjects = join(...objectsFolder)

const foldersOf = (oid: string) => [...objectsFolder, oid.slice(0, 2), oid.slice(2, 4)]

const objectPath = ({ path }: Pick<Repository, 'path'>, oid: string) => join(path, ...foldersOf(oid), oid)

/** Returns the bytes of a stored object; null when there is none with this id, which may be any text. */
export async function findLfsObject(
  repository: Pick<Repository, 'path'>,
  oid: string,
): Promise<number | null> {
  if (!isLfsOid(oid)) return null
  const found = await stat(objectPath(repository, oid)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  return found?.size ?? null
}

/**
 * Renews the age of a stored object, so that housekeeping keeps the object until a push names it.
 *
 * @param oid is well-formed, as `isLfsOid` says
 */
export async function renewLfsObject(repository: Repository, oid: string): Promise<void> {
  const now = new Date()
  // When the object was removed meanwhile, the push that needs it is refused, and the client uploads the
  // object again.
  await utimes(objectPath(repository, oid), now, now).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}

/**
 * Stores an object in bounded memory. The bytes are checked while they are written to a temporary file, which
 * is then renamed, so an incomplete object never appears. The object is durable when the promise resolves.
 *
 * @param object its oid is well-formed, as `isLfsOid` says
 * @throws DomainError invalid when the bytes have another SHA-256 or another number; not-found when the
 *   repository was deleted; every error of the chunks
 */
export async function storeLfsObject(
  repository: Pick<Repository, 'path'>,
  object: LfsObject,
  chunks: AsyncIterable<Buffer>,
): Promise<void> {
  const uploads = await makeUploadFolder(repository.path)
  const folder = await makeFolders(repository.path, foldersOf(object.oid))
  await writeDurably(join(uploads, randomUUID()), join(folder, object.oid), (handle) =>
    writeFile(handle, checked(object, chunks)),
  ).catch(whenDeleted)
  await syncFolder(folder)
}

export interface Receiving {
  /** Size of the largest file. */
  bytesMax: number
  /**
   * Called with the complete file before it is stored.
   *
   * @throws Error to refuse the file
   */
  admit: (object: LfsObject) => Promise<void>
}

/**
 * Stores a file as an object, in bounded memory. Its SHA-256 and size are known only when it has arrived. The
 * file is durable when the promise resolves; a refused or incomplete file leaves nothing.
 *
 * @throws DomainError too-large; not-found when the repository was deleted; every error of the chunks and of
 * `admit`
 */
export async function storeFile(
  repository: Pick<Repository, 'path'>,
  chunks: AsyncIterable<Buffer>,
  { bytesMax, admit }: Receiving,
): Promise<LfsObject> {
  const uploads = await makeUploadFolder(repository.path)
  const received = { oid: '', size: 0 }
  const findPath = async () => {
    await admit(received)
    return join(await makeFolders(repository.path, foldersOf(received.oid)), received.oid)
  }
  await writeDurably(join(uploads, randomUUID()), findPath, (handle) =>
    writeFile(
      handle,
      measured(received, chunks, bytesMax, () => tooLarge(largestFile(bytesMax))),
    ),
  ).catch(whenDeleted)
  await syncFolder(dirname(objectPath(repository, received.oid)))
  return received
}

/**
 * Passes the bytes on, and records their SHA-256 and number at their end.
 *
 * @throws the error of `tooMany`, when there are more bytes than allowed
 */
async function* measured(
  received: LfsObject,
  chunks: AsyncIterable<Buffer>,
  bytesMax: number,
  tooMany: () => Error,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  for await (const chunk of chunks) {
    received.size += chunk.length
    if (received.size > bytesMax) throw tooMany()
    hash.update(chunk)
    yield chunk
  }
  received.oid = hash.digest('hex')
}

/** Returns the refusal of a file that is too large. */
export const largestFile = (bytesMax: number) => `A file can have ${bytesMax} bytes at most`

/**
 * Creates the folder of uploads.
 *
 * @returns its path
 */
export const makeUploadFolder = (repository: string): Promise<string> =>
  makeFolders(repository, uploadFolders)

/**
 * Removes the unfinished uploads of killed processes.
 *
 * @param before uploads that were written to later stay
 */
export async function removeStaleUploads({ path }: Pick<Repository, 'path'>, before: Date): Promise<void> {
  const folder = join(path, lfsUploads)
  for (const name of await namesIn(folder)) {
    const file = join(folder, name)
    if (await isUntouchedSince(file, before)) await rm(file, { force: true })
  }
}

async function* checked({ oid, size }: LfsObject, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const received = { oid: '', size: 0 }
  yield* measured(received, chunks, size, mismatch)
  if (received.size !== size || received.oid !== oid) throw mismatch()
}

const mismatch = () => invalid('SHA256 or size mismatch')

/**
 * Creates missing folders durably, but never the repository itself.
 *
 * @returns the path of the last one
 */
async function makeFolders(repository: string, names: readonly string[]): Promise<string> {
  let folder = repository
  for (const name of names) {
    folder = join(folder, name)
    const isNew = await mkdir(folder).then(
      () => true,
      (error: NodeJS.ErrnoException) => (error.code === 'EEXIST' ? false : whenDeleted(error)),
    )
    if (isNew) await syncFolder(dirname(folder))
  }
  return folder
}

function whenDeleted(error: NodeJS.ErrnoException): never {
  throw error.code === 'ENOENT' ? notFound('Project', { cause: error }) : error
}

export interface LfsReading {
  range: ByteRange
  /** Time after which a client that reads nothing is disconnected. */
  idleMs: number
}

/**
 * Writes the bytes of an object, or a part of them, to a stream, in bounded memory. The caller ends the
 * stream.
 *
 * @throws Error when the object cannot be read; the reason of the signal when it is aborted
 */
export async function writeLfsObject(
  repository: Repository,
  oid: string,
  output: Writable,
  { range, idleMs }: LfsReading,
): Promise<void> {
  if (range.end < range.start) return
  const file = createReadStream(objectPath(repository, oid), { ...range, highWaterMark: readAtOnce })
  await sendToClient(file, output, { idleMs, signal: repository.signal })
}

/** Lists every stored object of Git LFS of a repository. */
export async function listLfsObjects({ path }: { path: string }): Promise<LfsObject[]> {
  const folder = join(path, lfsObjects)
  const objects: LfsObject[] = []
  for (const name of await namesIn(folder, { recursive: true })) {
    const oid = basename(name)
    if (isLfsOid(oid)) objects.push({ oid, size: (await stat(join(folder, name))).size })
  }
  return objects
}
