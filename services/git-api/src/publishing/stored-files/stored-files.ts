import { type Database, inTransaction, type PrismaTransaction } from '@switchyard/db'
import { tooLarge } from '@switchyard/domain'
import type { LfsObject } from '@switchyard/domain/commit'
import { largestFile, storeFile } from '@switchyard/git-storage/lfs'
import { answered, type Call, inSlot, startBytes } from '@switchyard/service-kit/http'
import type { ProjectCall } from '../../guards.js'
import type { OutgoingMessages } from '../../outgoing-messages.js'
import { type FileTransfers, findQuotaRefusal, openLfsObject } from '../../repository/lfs/lfs.js'
import type { StorageSpace } from '../../system/system.js'

// Stores files of packages and comments. Their bytes are objects beside the repository, like those of Git
// LFS.

export interface StoredFileDependencies extends FileTransfers {
  messages: Pick<OutgoingMessages, 'requestHousekeeping'>
  storageSpace: StorageSpace
}

interface Incoming {
  chunks: AsyncIterable<Buffer>
  /** Size of the largest file. */
  bytesMax: number
  /** Largest size of the file according to its sender; undefined: unknown. */
  announcedBytes: number | undefined
}

/** Number of bytes between two checks of the free disk space. */
const lookEveryBytes = 64 * 1024 * 1024

/**
 * Stores a file in bounded memory once the sender has a slot. A refused or incomplete file leaves nothing
 * behind. The caller stores the rows of the object and of its owner by {@link noteFile}.
 *
 * @throws DomainError too-large, also beyond a quota; insufficient-storage when the disk is full; not-found
 *   when the project was deleted; rate-limited when too many transfers of the sender wait; every error of the
 *   chunks
 */
export async function receiveFile(
  deps: StoredFileDependencies,
  access: ProjectCall,
  { chunks, bytesMax, announcedBytes = 1 }: Incoming,
  call: Call,
): Promise<LfsObject> {
  if (announcedBytes > bytesMax) throw tooLarge(largestFile(bytesMax))
  const requireRoomFor = async (bytes: number) => {
    const refusal = await findQuotaRefusal(deps.storageSpace, access, bytes)
    if (refusal === null) return
    // Housekeeping removes the bytes of deleted files, which makes room.
    deps.messages.requestHousekeeping(access.project.id)
    throw tooLarge(refusal)
  }
  return inSlot(deps.lfsTransfers, call, async () => {
    await requireRoomFor(announcedBytes)
    const stored = await storeFile(access.repository, whileThereIsRoom(deps, chunks), {
      bytesMax,
      admit: ({ size }) => requireRoomFor(size),
    })
    // This throws when the repository was moved meanwhile: its copy may lack the file, so the client has to
    // send it again.
    await access.repository.withoutMove(async () => {})
    return stored
  })
}

/**
 * Stores the rows of a received file in a transaction, unless its sender has disconnected, because a client
 * that canceled an upload does not learn of the file. The bytes then have no row, so housekeeping removes
 * them.
 *
 * @throws DomainError unavailable when the sender has disconnected
 */
export const noteFile = <Noted>(
  database: Database,
  { signal }: Pick<Call, 'signal'>,
  note: (transaction: PrismaTransaction) => Promise<Noted>,
): Promise<Noted> =>
  inTransaction(database, async (transaction) => {
    const noted = await note(transaction)
    // The check is at the end, because the statements may have waited for locks of other transactions.
    signal.throwIfAborted()
    return noted
  })

/** Passes the chunks on until the disk is full. @throws DomainError insufficient-storage */
async function* whileThereIsRoom({ storageSpace }: StoredFileDependencies, chunks: AsyncIterable<Buffer>) {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes >= lookEveryBytes) {
      await storageSpace.findRoom()
      bytes = 0
    }
    yield chunk
  }
}

interface SentFile {
  /** SHA-256 of the bytes. */
  oid: string
  fileName: string
  /**
   * Media type of a picture that browsers may display. Unset: the file is a download, whatever its type is.
   */
  pictureType?: string | undefined
}

/** Media types of file downloads. */
export const fileTypes = ['application/octet-stream']

/** Headers of file downloads. */
export const fileHeaders = { 'X-Checksum-Sha256': 'SHA-256 of the whole file, hexadecimal' }

/** Prevents a browser from running anything in a file that it opens. */
const contentSecurityPolicy = "default-src 'none'; sandbox"

/**
 * Sends the bytes of a file, or the part of them that `Range` asks for.
 *
 * @throws DomainError not-found when the storage no longer has the file
 */
export async function sendFile(
  deps: FileTransfers,
  access: ProjectCall,
  { oid, fileName, pictureType }: SentFile,
  call: Call,
): Promise<typeof answered> {
  const { response } = call.raw
  const found = await openLfsObject(deps, access, oid, call)
  response.attachment(fileName)
  if (pictureType) {
    const download = String(response.get('Content-Disposition'))
    response.set('Content-Disposition', download.replace(/^attachment/, 'inline'))
  }
  response.type(pictureType ?? 'application/octet-stream').set({
    'X-Checksum-Sha256': oid,
    'Cache-Control': 'max-age=0, private, must-revalidate',
    'Content-Security-Policy': contentSecurityPolicy,
  })
  const range = startBytes(call.raw, { etag: `"${oid}"`, size: found.size })
  if (range) await found.write(response, range)
  response.end()
  return answered
}
