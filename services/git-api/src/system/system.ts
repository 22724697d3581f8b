import { readFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Database } from '@switchyard/db'
import type { StorageLimits } from '@switchyard/domain/access'
import type { CountedRepository, Git } from '@switchyard/git-storage/git'
import type { Redis } from 'ioredis'
import pTimeout from 'p-timeout'
import { type DatabaseMetrics, type ExportState, readAuditExports, readDatabaseMetrics } from './store.js'

/** The commit that this process was built from. */
export interface Build {
  /** `unknown` when it is not configured. */
  revision: string
  /** The time of the commit, in RFC 3339; undefined when it is not configured. */
  time?: string
}

/** The state of the installation. A part is null when it did not answer within two seconds. */
export interface SystemState {
  /** The version of this service, which all packages of Switchyard share. */
  version: string
  build: Build
  /** The start of this process. */
  startedAt: Date
  at: Date
  gitVersion: string | null
  database: DatabaseMetrics | null
  redis: RedisInfo | null
  /** The file system of the repositories. */
  storage: DiskSpace | null
  /** The destinations of the audit log. */
  auditExports: ExportState[] | null
}

interface RedisInfo {
  version: string
  usedMemoryBytes: number
}

export interface DiskSpace {
  totalBytes: number
  freeBytes: number
}

/** The space for user data: the quotas of projects and users, and the disk of the repositories. */
export interface StorageSpace {
  /**
   * Counts bytes of git objects that are about to be stored.
   *
   * @throws DomainError invalid beyond a quota; insufficient-storage when too little of the disk would stay
   *   free
   */
  take(repository: CountedRepository, bytes: number): Promise<void>
  /**
   * Returns the reason why so many bytes of files or reports exceed a quota, or null.
   *
   * @throws DomainError insufficient-storage
   */
  findQuotaRefusal(repository: CountedRepository, bytes: number): Promise<string | null>
  /**
   * Returns the bytes that are available on the disk beyond those that are kept free.
   *
   * @throws DomainError insufficient-storage when there are none
   */
  findRoom(): Promise<number>
  /** Returns the limits of a project, with its own limit if it has one. */
  limitsOf(project: { own: number | null; isOwnedByAdministrator: boolean }): StorageLimits
}

/** Time for which a state is reused. */
const keptMs = 10_000
const partTimeoutMs = 2_000

interface Dependencies {
  build: Build
  database: Database
  redis: Redis
  git: Git
  storageRoot: string
}

/**
 * Returns a function that reads the state of the installation. All requests within ten seconds share one
 * result.
 */
export function createSystemState({ build, ...deps }: Dependencies): () => Promise<SystemState> {
  const startedAt = new Date(Date.now() - process.uptime() * 1000)
  const version = ownVersion()
  let found: { state: Promise<SystemState>; untilMs: number } | undefined
  return () => {
    if (found && performance.now() < found.untilMs) return found.state
    const state = readParts(deps).then((read) => ({ version, build, startedAt, at: new Date(), ...read }))
    found = { state, untilMs: performance.now() + keptMs }
    state.catch(() => {
      if (found?.state === state) found = undefined
    })
    return state
  }
}

async function readParts({ database, redis, git, storageRoot }: Omit<Dependencies, 'build'>) {
  const [gitVersion, databaseMetrics, redisInfo, storage, auditExports] = await Promise.all([
    inTime(git.readVersion()),
    readDatabaseMetrics(database),
    inTime(readRedisInfo(redis)),
    readStorage(storageRoot),
    inTime(readAuditExports(database)),
  ])
  return { gitVersion, database: databaseMetrics, redis: redisInfo, storage, auditExports }
}

async function readRedisInfo(redis: Redis): Promise<RedisInfo> {
  const info = await redis.info()
  const version = /^redis_version:(\S+)/m.exec(info)?.[1] ?? ''
  return { version, usedMemoryBytes: Number(/^used_memory:(\d+)/m.exec(info)?.[1]) }
}

/** @returns null when the file system does not answer in time */
export const readStorage = (storageRoot: string): Promise<DiskSpace | null> => inTime(readSpace(storageRoot))

export async function readSpace(storageRoot: string): Promise<DiskSpace> {
  const { bsize, blocks, bavail } = await statfs(storageRoot)
  return { totalBytes: bsize * blocks, freeBytes: bsize * bavail }
}

/** @returns null when the part fails or takes too long */
const inTime = <Part>(reading: Promise<Part>): Promise<Part | null> =>
  pTimeout(reading, { milliseconds: partTimeoutMs }).catch(() => null)

/**
 * Reads the version. The package is found by its name, because sources and bundle are in folders of different
 * depth.
 */
function ownVersion(): string {
  const path = createRequire(import.meta.url).resolve('@switchyard/git-api/package.json')
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version
}
