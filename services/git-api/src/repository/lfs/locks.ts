import { type Database, inTransaction, violatedUniqueIndex } from '@switchyard/db'
import { excerpt, forbidden, invalid, invalidParameters, notFound } from '@switchyard/domain'
import { accessLevels, type Caller } from '@switchyard/domain/access'
import { parseFilePath } from '@switchyard/domain/commit'
import type { ProjectCall } from '../../guards.js'
import type { LfsLockFilter, LfsLockWithOwner } from './store.js'
import * as store from './store.js'

const locksPerProjectMax = 10_000
/** Longest path, because the unique index over paths holds no longer values. */
const pathBytesMax = 2048

/**
 * Locks a file for the caller.
 *
 * @returns the new lock, or with `isNew` false the existing lock of the file
 * @throws DomainError invalid-parameters for a malformed path, and for one with a line break, which git would
 *   read as several paths; invalid when the project has too many locks
 */
export async function lockFile(
  database: Database,
  { project, caller }: ProjectCall<Caller>,
  path: string,
): Promise<{ lock: LfsLockWithOwner; isNew: boolean }> {
  if (!Array.isArray(parseFilePath(path)) || path.startsWith('/') || /[\r\n]/.test(path))
    throw invalidParameters(['path is invalid'])
  if (Buffer.byteLength(path) > pathBytesMax) throw invalidParameters(['path is too long'])
  const findExisting = () => store.listLfsLocks(database, project.id, { path }, 1)
  const [existing] = await findExisting()
  if (existing) return { lock: existing, isNew: false }
  try {
    const lock = await inTransaction(database, async (transaction) => {
      if ((await store.lockAndCountLfsLocks(transaction, project.id)) >= locksPerProjectMax) {
        throw invalid(`A project can have ${locksPerProjectMax} locks at most`)
      }
      return store.createLfsLock(transaction, { projectId: project.id, path, ownerId: caller.user.id })
    })
    return { lock, isNew: true }
  } catch (error) {
    const [other] = violatedUniqueIndex(error) === null ? [] : await findExisting()
    if (!other) throw error
    return { lock: other, isNew: false }
  }
}

interface LockPage {
  locks: LfsLockWithOwner[]
  /** Id of the last lock of this page when there are more; null on the last page. */
  next: number | null
}

/** Lists locks of the project, oldest first. */
export async function listLocks(
  database: Database,
  { project }: ProjectCall,
  filter: LfsLockFilter,
  take: number,
): Promise<LockPage> {
  const found = await store.listLfsLocks(database, project.id, filter, take + 1)
  const locks = found.slice(0, take)
  return { locks, next: found.length > take ? (locks.at(-1)?.id ?? null) : null }
}

/**
 * Removes a lock: the caller's own, or with `force` any lock, for maintainers.
 *
 * @throws DomainError not-found; forbidden
 */
export async function unlockFile(
  database: Database,
  { project, caller, level }: ProjectCall<Caller>,
  { id, force }: { id: number; force: boolean },
): Promise<LfsLockWithOwner> {
  const [lock] = await store.listLfsLocks(database, project.id, { id }, 1)
  if (!lock) throw notFound('Lock')
  if (lock.ownerId !== caller.user.id) {
    if (!force) throw forbidden(`'${excerpt(lock.path)}' is locked by @${lock.owner.username}`)
    if (level < accessLevels.maintainer) {
      throw forbidden('You must have maintainer access to force delete a lock')
    }
  }
  if (!(await store.deleteLfsLock(database, project.id, id))) throw notFound('Lock')
  return lock
}
