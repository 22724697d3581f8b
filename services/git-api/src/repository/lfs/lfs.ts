import type { Writable } from 'node:stream'
import { recordLfsObjects } from '@switchyard/db'
import { invalid, notFound, tooLarge } from '@switchyard/domain'
import { isLfsOid, type LfsObject } from '@switchyard/domain/commit'
import type { ByteRange } from '@switchyard/git-storage/files'
import { findLfsObject, renewLfsObject, storeLfsObject, writeLfsObject } from '@switchyard/git-storage/lfs'
import { countBytes } from '@switchyard/git-storage/repository-files'
import { type Call, inSlot } from '@switchyard/service-kit/http'
import type { Slots } from '@switchyard/service-kit/slots'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import type { StorageSpace } from '../../system/system.js'

/**
 * State of an object of Git LFS. `missing`: it is not stored; `refused`: it can never be stored, with the
 * reason.
 */
export type LfsObjectState = { state: 'stored' | 'missing' } | { state: 'refused'; reason: string }

/** Bounds of uploads and downloads of files that are stored like objects of Git LFS. */
export interface FileTransfers {
  /** Slots for uploads and downloads. */
  lfsTransfers: Slots
  /** Time after which a client that neither sends nor reads is disconnected. */
  transferIdleMs: number
}

export interface LfsDependencies extends ProjectResourceDependencies, FileTransfers {
  /** Size of the largest object of Git LFS. */
  lfsObjectBytesMax: number
  storageSpace: StorageSpace
}

/**
 * Returns which objects are stored.
 *
 * @param objects any texts and whole numbers
 */
export async function describeLfsObjects(
  { lfsObjectBytesMax }: LfsDependencies,
  { repository }: ProjectCall,
  objects: readonly LfsObject[],
): Promise<(LfsObject & LfsObjectState)[]> {
  const stateOf = async ({ oid, size }: LfsObject): Promise<LfsObjectState> => {
    const reason = problemOf({ oid, size }, lfsObjectBytesMax)
    if (reason !== null) return { state: 'refused', reason }
    return { state: (await findLfsObject(repository, oid)) === size ? 'stored' : 'missing' }
  }
  return Promise.all(objects.map(async (object) => ({ ...object, ...(await stateOf(object)) })))
}

function problemOf({ oid, size }: LfsObject, bytesMax: number): string | null {
  if (!isLfsOid(oid)) return 'The oid is not a SHA-256 in lower-case hexadecimal digits'
  if (size < 0) return 'The size is negative'
  return size > bytesMax ? largest(bytesMax) : null
}

const largest = (bytesMax: number) => `An LFS object can have ${bytesMax} bytes at most`

/**
 * Returns which objects a client has to upload. Stored objects are kept for the push that follows, and are
 * counted in the statistics of the project in case a process died before it counted them. All missing objects
 * are refused when there is no room for them together.
 *
 * @throws DomainError insufficient-storage when the disk is full
 */
export async function planLfsUpload(
  deps: LfsDependencies,
  access: ProjectCall,
  objects: readonly LfsObject[],
): Promise<(LfsObject & LfsObjectState)[]> {
  const distinct = [...new Map(objects.map((object) => [`${object.oid} ${object.size}`, object])).values()]
  const described = await describeLfsObjects(deps, access, distinct)
  const stored = described.filter(({ state }) => state === 'stored')
  for (const { oid } of stored) await renewLfsObject(access.repository, oid)
  if (stored.length > 0) await recordLfsObjects(deps.database, access.project.id, stored)
  const missing = described.filter(({ state }) => state === 'missing')
  if (missing.length === 0) return described
  const bytes = missing.reduce((sum, { size }) => sum + size, 0)
  const reason = await findQuotaRefusal(deps.storageSpace, access, bytes)
  if (reason === null) return described
  return described.map((object) =>
    object.state === 'missing' ? { oid: object.oid, size: object.size, state: 'refused', reason } : object,
  )
}

/** Returns the reason why so many bytes exceed a quota, or null. @throws DomainError insufficient-storage */
export const findQuotaRefusal = (
  storageSpace: StorageSpace,
  { project: { diskPath }, repository }: ProjectCall,
  bytes: number,
) => storageSpace.findQuotaRefusal({ diskPath, countBytes: () => countBytes(repository) }, bytes)

/**
 * Stores an object once the sender has a slot. The bytes of an object that is stored already are not read.
 *
 * @param chunks the bytes as they arrive
 * @throws DomainError invalid for a malformed object and when the bytes do not have its size and SHA-256;
 *   too-large, also beyond a quota; insufficient-storage when the disk is full; not-found when the project
 *   was deleted; rate-limited when too many transfers of the sender wait; every error of the chunks
 */
export async function uploadLfsObject(
  deps: LfsDependencies,
  access: ProjectCall,
  object: LfsObject,
  chunks: AsyncIterable<Buffer>,
  call: Call,
): Promise<void> {
  if (object.size > deps.lfsObjectBytesMax) throw tooLarge(largest(deps.lfsObjectBytesMax))
  const reason = problemOf(object, deps.lfsObjectBytesMax)
  if (reason !== null) throw invalid(reason)
  await inSlot(deps.lfsTransfers, call, async () => {
    const isStored = (await findLfsObject(access.repository, object.oid)) === object.size
    if (isStored) await renewLfsObject(access.repository, object.oid)
    else {
      const requireRoom = async () => {
        const refusal = await findQuotaRefusal(deps.storageSpace, access, object.size)
        if (refusal !== null) throw tooLarge(refusal)
      }
      await requireRoom()
      await storeLfsObject(access.repository, object, thenRequire(chunks, requireRoom))
    }
    // This throws when the repository was moved meanwhile: its copy may lack the object, so the client has to
    // send it again.
    await access.repository.withoutMove(async () => {})
    await recordLfsObjects(deps.database, access.project.id, [object])
  })
}

/** Passes the bytes on, and checks the room again at their end, because other objects may have arrived. */
async function* thenRequire(chunks: AsyncIterable<Buffer>, requireRoom: () => Promise<void>) {
  yield* chunks
  await requireRoom()
}

/** @throws DomainError not-found when the object is not stored with this size */
export async function verifyLfsObject(
  deps: LfsDependencies,
  access: ProjectCall,
  object: LfsObject,
): Promise<void> {
  const [described] = await describeLfsObjects(deps, access, [object])
  if (described?.state !== 'stored') throw notFound('LFS Object')
}

/** A stored object whose bytes can be sent. */
interface ReadableLfsObject extends LfsObject {
  /** Writes a part of the bytes in bounded memory once the sender has a slot; the caller ends the stream. */
  write(output: Writable, range: ByteRange): Promise<void>
}

/** @throws DomainError not-found */
export async function openLfsObject(
  deps: FileTransfers,
  access: ProjectCall,
  oid: string,
  call: Call,
): Promise<ReadableLfsObject> {
  const { repository } = access
  const size = await findLfsObject(repository, oid)
  if (size === null) throw notFound('LFS Object')
  const { transferIdleMs: idleMs } = deps
  return {
    oid,
    size,
    write: (output, range) =>
      inSlot(deps.lfsTransfers, call, () => writeLfsObject(repository, oid, output, { range, idleMs })),
  }
}
