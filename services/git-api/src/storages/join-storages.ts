import type { Database } from '@switchyard/db'
import type { GitOptions } from '@switchyard/git-storage/git'
import type { Forward, Route } from '@switchyard/service-kit/http'
import type { ServiceContext } from '@switchyard/service-kit/lifecycle'
import type { StorageDependencies } from './between-storages.js'
import { betweenStoragesRoutes } from './between-storages-routes.js'
import { underSharedLock } from './change-lock.js'
import { createForwarding } from './forwarding.js'
import { type MovingDependencies, startMoves } from './run-moves.js'
import type { StorageMetrics } from './storages.js'

// The parts that a process needs only where there are several storages. service.ts loads this file, with all
// its imports, only there.

/** Prevents moves of a repository while it changes. */
export const withoutMoveIn =
  (database: Database, storage: string): NonNullable<GitOptions['withoutMove']> =>
  (diskPath, work) =>
    underSharedLock(database, { storage, diskPath }, work)

/**
 * Carries out moves of repositories to this storage, serves requests of the other storages and forwards
 * requests to them.
 */
export function joinStorages(
  deps: MovingDependencies & StorageDependencies,
  metrics: StorageMetrics,
  lifecycle: ServiceContext['lifecycle'],
): { forward: Forward; routes: Route[] } {
  const moves = startMoves(deps, metrics.moved)
  lifecycle.onClose('moves', () => moves.close())
  const { forward, close } = createForwarding(deps.database, deps.storages, metrics)
  lifecycle.onClose('forwarding', close)
  return { forward, routes: betweenStoragesRoutes(deps) }
}
