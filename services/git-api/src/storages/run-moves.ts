import {
  type Database,
  findRepositoryLocation,
  type RepositoryStorageMove,
  withMaintenanceLock,
} from '@switchyard/db'
import type { LfsObject } from '@switchyard/domain/commit'
import { type ArrivingRepository, receiveRepository } from '@switchyard/git-storage/arriving-repository'
import type { Git } from '@switchyard/git-storage/git'
import { type Repeated, repeat } from '@switchyard/service-kit/lifecycle'
import type { Logger } from '@switchyard/service-kit/observability'
import { moveUnderExclusiveLock } from './change-lock.js'
import { type OtherStorage, otherStorage } from './other-storage.js'
import type { StorageMetrics, Storages } from './storages.js'
import { leftCopies, listActiveMoves, markMoveFailed, markMoveStarted, markSourceRemoved } from './store.js'

export interface MovingDependencies {
  database: Database
  git: Git
  storages: Storages
  storageRoot: string
  logger: Logger
}

const pauseMs = 2_000

/**
 * Carries out the moves of repositories to this storage, one at a time, and removes old copies of
 * repositories that were moved away from it. This work is here and not in the worker, because only git-api
 * may write projects. A move whose process ended starts again in the next process.
 */
export function startMoves(deps: MovingDependencies, ended: StorageMetrics['moved']): Repeated {
  const { logger } = deps
  const work = async (signal: AbortSignal) => {
    await runMoves(deps, ended, signal)
    await removeLeftCopies(deps, signal)
  }
  return repeat(work, pauseMs, (err) =>
    logger.warn({ err }, 'could not run moves of repositories; trying again in 2 s'),
  )
}

async function runMoves(
  deps: MovingDependencies,
  ended: StorageMetrics['moved'],
  signal: AbortSignal,
): Promise<void> {
  const { database, storages } = deps
  for (const move of await listActiveMoves(database, storages.own)) {
    if (signal.aborted) return
    // Housekeeping, or another process of this storage, may hold the lock; the move is tried again soon.
    await withMaintenanceLock(database, move.projectId, (lockLost) =>
      runMove(deps, ended, move, AbortSignal.any([signal, lockLost])),
    )
  }
}

async function runMove(
  deps: MovingDependencies,
  ended: StorageMetrics['moved'],
  move: RepositoryStorageMove,
  signal: AbortSignal,
): Promise<void> {
  const { database, logger } = deps
  const fields = { project_id: move.projectId, source: move.source, destination: move.destination }
  // Another process of this storage may have ended the move since it was listed.
  if (!(await markMoveStarted(database, move.id))) return
  try {
    const heldUpMs = await moveRepository(deps, move, signal)
    ended.inc({ result: 'moved' })
    logger.info({ ...fields, held_up_ms: heldUpMs }, 'moved a repository')
  } catch (error) {
    // A move that the end of this process interrupts starts again in the next process.
    if (signal.aborted) throw error
    ended.inc({ result: 'failed' })
    logger.error({ err: error, ...fields }, 'could not move a repository')
    // When the confirmation of the last step was lost, the move is marked as finished already, and this
    // changes nothing.
    await markMoveFailed(database, move.id, reasonOf(error))
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message.slice(0, 500) : 'unknown'

async function removeLeftCopies(
  { database, git, storages, logger }: MovingDependencies,
  signal: AbortSignal,
): Promise<void> {
  const before = new Date(Date.now() - storages.graceMs)
  for await (const move of leftCopies(database, storages.own, before)) {
    if (signal.aborted) return
    try {
      await withMaintenanceLock(database, move.projectId, async () => {
        const location = await findRepositoryLocation(database, move.projectId)
        // The repository may have been moved back meanwhile.
        if (location?.storage !== storages.own) await git.deleteRepository(move.diskPath)
        await markSourceRemoved(database, move.id)
        logger.info({ project_id: move.projectId }, 'removed the former copy of a repository')
      })
    } catch (err) {
      // A copy that cannot be deleted does not prevent the removal of other copies.
      logger.warn({ err, project_id: move.projectId }, 'could not remove the former copy of a repository')
    }
  }
}

/** Number of rounds before the last one, during which the repository may still change. */
const roundsBefore = 2
/** Number of Git LFS objects that are copied at the same time. */
const objectsAtOnce = 8
/** Time limit of the round that blocks changes. */
const lastRoundMs = 12_000

/**
 * Copies a repository of another storage into this one and makes this storage hold it. Clients read and write
 * the original until the copy is complete; then changes are blocked for one small round. When anything fails,
 * the project stays where it was.
 *
 * @returns for how long changes were blocked, in milliseconds
 * @throws every error of a step; then the storage of the project tells whether the move took place
 */
async function moveRepository(
  { database, git, storages, storageRoot }: MovingDependencies,
  move: RepositoryStorageMove,
  signal: AbortSignal,
): Promise<number> {
  const original = otherStorage(storages, move.source)
  const copy = await receiveRepository(storageRoot, move.diskPath, original.originalOf(move.projectId))
  try {
    for (let round = 0; round < roundsBefore; round += 1) await copyChanges(copy, original, move, signal)
    await copy.checkObjects(signal)
    const startedMs = performance.now()
    await moveUnderExclusiveLock(database, move, {
      async complete() {
        const inTime = AbortSignal.any([signal, AbortSignal.timeout(lastRoundMs)])
        await copyChanges(copy, original, move, inTime)
        await copy.checkReferences(inTime)
      },
      putInPlace: ({ defaultBranch }) => putInPlace(git, copy, move, defaultBranch),
    })
    return Math.round(performance.now() - startedMs)
  } finally {
    await copy.discard()
  }
}

async function putInPlace(
  git: Git,
  copy: ArrivingRepository,
  { diskPath }: RepositoryStorageMove,
  defaultBranch: string,
): Promise<void> {
  await copy.settle(defaultBranch)
  git.forget(diskPath)
}

async function copyChanges(
  copy: ArrivingRepository,
  original: OtherStorage,
  { projectId }: RepositoryStorageMove,
  signal: AbortSignal,
): Promise<void> {
  await copy.fetch(signal)
  const copyObject = async (object: LfsObject) => {
    if ((await copy.findLfsObject(object.oid)) === object.size) return
    const chunks = await original.openLfsObject(projectId, object.oid, signal)
    // Without chunks, the object was deleted after it was listed.
    if (chunks) await copy.storeLfsObject(object, chunks)
  }
  const objects = await original.listLfsObjects(projectId, signal)
  for (let first = 0; first < objects.length; first += objectsAtOnce) {
    await Promise.all(objects.slice(first, first + objectsAtOnce).map(copyObject))
  }
}
