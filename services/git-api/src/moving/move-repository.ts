import { moveWhileStill, type RepositoryStorageMove } from '@switchyard/db'
import type { LfsObject } from '@switchyard/domain/commit'
import { type ArrivingRepository, type Git, receiveRepository } from '@switchyard/git-storage'
import { type OtherStorage, otherStorage } from '../other-storages.js'
import type { MovingDependencies } from './moving-dependencies.js'

/** Rounds before the last one, while the repository is still being changed. */
const roundsBefore = 2
/** Objects of Git LFS that are copied at the same time. */
const objectsAtOnce = 8
/** Longest time for the round in which changes are held up. */
const lastRoundMs = 12_000

/**
 * Copies a repository of another storage into this one and makes this storage hold it. Clients read and write the original
 * until the copy is complete; then changes are held up for the time of one small round. When anything fails, the project stays
 * where it was.
 *
 * @returns for how long changes were held up, in milliseconds
 * @throws every error of a step; then the storage of the project tells whether the move took place
 */
export async function moveRepository(
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
    await moveWhileStill(database, move, {
      async complete() {
        const inTime = AbortSignal.any([signal, AbortSignal.timeout(lastRoundMs)])
        await copyChanges(copy, original, move, inTime)
        await copy.checkReferences(inTime)
      },
      settle: ({ defaultBranch }) => settle(git, copy, move, defaultBranch),
    })
    return Math.round(performance.now() - startedMs)
  } finally {
    await copy.discard()
  }
}

async function settle(
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
    // Without chunks the object has gone since it was listed.
    if (chunks) await copy.storeLfsObject(object, chunks)
  }
  const objects = await original.listLfsObjects(projectId, signal)
  for (let first = 0; first < objects.length; first += objectsAtOnce) {
    await Promise.all(objects.slice(first, first + objectsAtOnce).map(copyObject))
  }
}
