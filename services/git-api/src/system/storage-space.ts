import {
  addRepositoryBytes,
  type Database,
  findStorageUse,
  noteCountedBytes,
  type StorageUse,
} from '@switchyard/db'
import { insufficientStorage, invalid, notFound, unavailable } from '@switchyard/domain'
import { quotaRefusal, sizeText, storageLimitsOf } from '@switchyard/domain/access'
import type { CountedRepository } from '@switchyard/git-storage/git'
import type { Logger } from '@switchyard/service-kit/observability'
import { LRUCache } from 'lru-cache'
import type { Config } from '../config.js'
import { readSpace, type StorageSpace } from './system.js'

interface Dependencies {
  database: Database
  storageRoot: string
  logger: Logger
}

type Limits = Pick<Config, 'PROJECT_STORAGE_BYTES_MAX' | 'USER_STORAGE_BYTES_MAX' | 'STORAGE_FREE_BYTES_MIN'>

/** Largest share of a disk that is kept free, so that a small disk is usable. */
const keptFreeShareMax = 0.05
/** Most attempts to add bytes to a project while other requests add bytes, too. */
const attemptsMax = 20
/** A repository is counted before a write is refused, unless it was counted within this time. */
const countedMs = 60_000

export function createStorageSpace(deps: Dependencies, limits: Limits): StorageSpace {
  const { database } = deps
  const uses = createUses(database)
  const limitsOf: StorageSpace['limitsOf'] = (project) =>
    storageLimitsOf(project, {
      projectBytesMax: limits.PROJECT_STORAGE_BYTES_MAX,
      ownerBytesMax: limits.USER_STORAGE_BYTES_MAX,
    })
  const limitsFor = ({ projectBytesMax: own, isOwnedByAdministrator }: StorageUse) =>
    limitsOf({ own, isOwnedByAdministrator })
  const quotaRefusalOf = (use: CountedUse, bytes: number) =>
    quotaRefusal(limitsFor(use), storedBytes(use), bytes)
  const requireRoom = (bytes: number) => roomOnDisk(deps, limits.STORAGE_FREE_BYTES_MIN, bytes)
  const findRefusal = async (repository: CountedRepository, bytes: number) => {
    const use = await uses.read(repository)
    const isRefused = quotaRefusalOf(use, bytes) !== null
    const now = isRefused ? await uses.readCounted(repository, use) : use
    return { use: now, refusal: quotaRefusalOf(now, bytes) }
  }

  return {
    limitsOf,
    async take(repository, bytes) {
      await requireRoom(bytes)
      for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
        const { use, refusal } = await findRefusal(repository, bytes)
        if (refusal !== null) throw invalid(refusal)
        if (await addRepositoryBytes(database, use.projectId, bytes, limitsFor(use).projectBytesMax)) return
      }
      throw unavailable('', { retryAfterMs: 1000, cause: new Error('the project keeps changing') })
    },
    async findQuotaRefusal(repository, bytes) {
      await requireRoom(bytes)
      return (await findRefusal(repository, bytes)).refusal
    },
    findRoom: () => requireRoom(1),
  }
}

type CountedUse = StorageUse & { repositoryBytes: number }

const isCounted = (use: StorageUse): use is CountedUse => use.repositoryBytes !== null

const storedBytes = ({ repositoryBytes, lfsBytes, reportBytes, ...use }: CountedUse) => ({
  projectBytes: repositoryBytes + lfsBytes + reportBytes,
  ownerBytes: use.ownerBytes,
  projectReleasedBytes: use.releasedBytes,
  ownerReleasedBytes: use.ownerReleasedBytes,
})

/** Reads the storage use of projects, and counts repositories whose use is unknown or may be outdated. */
function createUses(database: Database) {
  const counted = new LRUCache<number, true>({ max: 10_000, ttl: countedMs })

  async function find({ diskPath }: CountedRepository): Promise<StorageUse> {
    const use = await findStorageUse(database, diskPath)
    if (!use) throw notFound('Project')
    return use
  }

  async function count(repository: CountedRepository, { projectId, repositoryBytes }: StorageUse) {
    const bytes = await repository.countBytes()
    await noteCountedBytes(database, projectId, { counted: bytes, notedBefore: repositoryBytes })
    counted.set(projectId, true)
    return { ...(await find(repository)), repositoryBytes: bytes }
  }

  return {
    async read(repository: CountedRepository): Promise<CountedUse> {
      const use = await find(repository)
      return isCounted(use) ? use : count(repository, use)
    },
    /** Counts again, because housekeeping may have removed objects since the last count. */
    readCounted: async (repository: CountedRepository, use: CountedUse): Promise<CountedUse> =>
      counted.has(use.projectId) ? use : count(repository, use),
  }
}

/** Returns the bytes of a disk that are kept free: writes that would leave less are refused. */
export const keptFreeBytes = (totalBytes: number, freeBytesMin: number): number =>
  Math.min(freeBytesMin, Math.floor(totalBytes * keptFreeShareMax))

/**
 * @returns the bytes that are available beyond those that are kept free
 * @throws DomainError insufficient-storage when they are fewer than `bytes`
 */
async function roomOnDisk({ storageRoot, logger }: Dependencies, freeBytesMin: number, bytes: number) {
  const { totalBytes, freeBytes } = await readSpace(storageRoot)
  const keptFree = keptFreeBytes(totalBytes, freeBytesMin)
  const room = freeBytes - keptFree
  if (room >= bytes) return room
  logger.error(
    { free_bytes: freeBytes, kept_free_bytes: keptFree, bytes },
    'refused a write: the disk is full',
  )
  const left = `has ${sizeText(freeBytes)} left, and ${sizeText(keptFree)} are kept free`
  throw insufficientStorage(`the disk of the repositories ${left}`)
}
