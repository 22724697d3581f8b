import type { Database } from '@switchyard/db'
import type { Clock } from '@switchyard/domain'
import { purgeDueAt, type RetainedActivity, type RetainedSaga, shortestKeepMs } from '@switchyard/domain/saga'
import { jobType } from '../job-type.js'
import type { SagaSettings } from '../saga-config.js'
import {
  readSweepPosition,
  type SweepPosition,
  withinBudget,
  withSweepLease,
  writeSweepPosition,
} from '../sweeps.js'
import type { SagaMetrics } from './metrics.js'
import {
  deleteTombstones,
  purgeSagas,
  type RetentionCandidate,
  type RetentionPage,
  readEnded,
  readExpired,
  readResolved,
  readSettled,
} from './retention-store.js'

const rowsMax = 500
/** Most sagas that one transaction deletes, because recording of their events waits for it. */
const purgedAtOnce = 50
const name = 'retention'

interface Dependencies {
  database: Database
  clock: Clock
  sagas: SagaSettings
  sagaMetrics: SagaMetrics
}

/**
 * Deletes sagas whose retention has ended, by the policy or by their clients' expiry, and old tombstones of
 * deleted sagas. At its time limit, a run stores its position, from which the next run continues.
 */
export const sagaRetention = (deps: Dependencies) => {
  const { database, sagas } = deps
  return jobType({
    queue: 'saga-retention',
    concurrency: 1,
    timeoutMs: 120_000,
    schedule: { everyMs: sagas.retentionEveryMs, attempts: 1, retryDelayMs: 1000 },
    run: (_payload, { signal, logger }) =>
      withSweepLease(database, name, 120_000, async () => {
        const purged = await purgeDue(deps, withinBudget(sagas.retentionBudgetMs, signal))
        if (purged > 0) logger.info({ purged }, 'deleted sagas whose retention has ended')
      }),
  })
}

interface Source {
  name: string
  read(after: readonly string[] | null): Promise<RetentionPage>
}

async function purgeDue(deps: Dependencies, mayContinue: () => boolean): Promise<number> {
  const { database, clock, sagas } = deps
  const now = clock()
  const position: SweepPosition = { ...(await readSweepPosition(database, name)) }
  let purged = 0
  for (const source of sourcesOf(deps, now)) {
    let after = position[source.name] ?? null
    do {
      const { candidates, next } = await source.read(after)
      purged += await purgeCandidates(deps, candidates, now)
      after = next
      position[source.name] = next ?? []
      await writeSweepPosition(database, name, withoutEmpty(position))
    } while (after && mayContinue())
  }
  const forgotten = position.tombstones ?? null
  const before = new Date(now.getTime() - sagas.tombstonesKeptMs)
  const next = await deleteTombstones(database, { before, after: forgotten, rowsMax: 5000 })
  await writeSweepPosition(database, name, withoutEmpty({ ...position, tombstones: next ?? [] }))
  return purged
}

/** A source without a position is read from its beginning. */
const withoutEmpty = (position: SweepPosition): SweepPosition =>
  Object.fromEntries(Object.entries(position).filter(([, keys]) => keys.length > 0))

function sourcesOf({ database, sagas }: Dependencies, now: Date): Source[] {
  const expired: Source = {
    name: 'expired',
    read: (after) => readExpired(database, after, now, rowsMax),
  }
  const keepMs = shortestKeepMs(sagas.retention)
  if (keepMs === null) return [expired]
  const before = new Date(now.getTime() - keepMs)
  const ended: Source = { name: 'ended', read: (after) => readEnded(database, after, before, rowsMax) }
  const resolved: Source = {
    name: 'resolved',
    read: (after) => readResolved(database, after, before, rowsMax),
  }
  const settled: Source = { name: 'settled', read: (after) => readSettled(database, after, before, rowsMax) }
  const namesSettled = sagas.retention.some(({ kind }) => kind === 'settled')
  return namesSettled ? [expired, ended, resolved, settled] : [expired, ended, resolved]
}

async function purgeCandidates(
  { database, sagas, sagaMetrics }: Dependencies,
  candidates: readonly RetentionCandidate[],
  now: Date,
): Promise<number> {
  const isDue = (saga: RetainedSaga, activities: readonly RetainedActivity[]) => {
    const due = purgeDueAt(saga, activities, sagas.retention)
    return due !== null && due <= now
  }
  // Activities can only postpone the end of a retention, so most sagas that stay are recognized without
  // reading them.
  const likely = candidates.filter((saga) => saga.endedAt === null || isDue(saga, []))
  let count = 0
  for (let index = 0; index < likely.length; index += purgedAtOnce) {
    const purged = await purgeSagas(database, likely.slice(index, index + purgedAtOnce), isDue)
    for (const { serviceName } of purged) sagaMetrics.purged(serviceName)
    count += purged.length
  }
  return count
}
