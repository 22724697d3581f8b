import type { Database } from '@switchyard/db'
import type { Clock } from '@switchyard/domain'
import {
  deriveParkedActivityFlags,
  deriveSagaFlags,
  type FlagRules,
  isSameFlag,
  type SagaFlag,
} from '@switchyard/domain/saga'
import type { Logger } from '@switchyard/service-kit/observability'
import { jobType } from '../job-type.js'
import type { SagaSettings } from '../saga-config.js'
import {
  readSweepPosition,
  type SweepPosition,
  withinBudget,
  withSweepLease,
  writeSweepPosition,
} from '../sweeps.js'
import {
  type FlagCandidate,
  type FlagCutoffs,
  type FlagSource,
  flagSources,
  readFlagPage,
} from './flag-sources-store.js'
import {
  type FlagChange,
  type FlagChanges,
  type FlagState,
  readFlagStates,
  writeFlags,
} from './flags-store.js'
import type { SagaMetrics } from './metrics.js'

const name = 'flags'
const rowsMax = 1000
/**
 * A chronological source reads this much of the past again, because an event is committed some time after it
 * was received, and the row of a saga may be older than those of its activities.
 */
const overlapMs = 5 * 60_000

interface Dependencies {
  database: Database
  clock: Clock
  sagas: SagaSettings
  sagaMetrics: SagaMetrics
}

/**
 * Sets and clears the flags of sagas and activities: overdue, stuck, settled, parked, inconsistent. Each run
 * reads the sagas and activities that have become due since the last run, and the flagged ones. At its time
 * limit, a run stores its position, from which the next run continues.
 */
export const sagaFlagSweep = ({ database, clock, sagas, sagaMetrics }: Dependencies) =>
  jobType({
    queue: 'saga-flag-sweep',
    concurrency: 1,
    timeoutMs: 60_000,
    schedule: { everyMs: sagas.sweepEveryMs, attempts: 1, retryDelayMs: 1000 },
    run: (_payload, { signal, logger }) =>
      withSweepLease(database, name, 60_000, async () => {
        const mayContinue = withinBudget(sagas.sweepBudgetMs, signal)
        const sweep = { database, sagaMetrics, rules: sagas.flagRules, now: clock(), mayContinue, logger }
        const changed = await sweepFlags(sweep)
        if (changed.set + changed.cleared > 0) logger.info(changed, 'changed the flags of sagas')
      }),
  })

interface Sweep extends Pick<Dependencies, 'database' | 'sagaMetrics'> {
  rules: FlagRules
  now: Date
  mayContinue: () => boolean
  logger: Logger
}

async function sweepFlags({
  database,
  sagaMetrics,
  rules,
  now,
  mayContinue,
  logger,
}: Sweep): Promise<{ set: number; cleared: number }> {
  const position: SweepPosition = { ...(await readSweepPosition(database, name)) }
  const cutoffs = cutoffsOf(rules, now)
  const changed = { set: 0, cleared: 0 }
  const sweepPage = async (source: FlagSource) => {
    const after = position[source.name] ?? null
    const { candidates, next } = await readFlagPage(database, source, after, cutoffs, rowsMax)
    const { set, cleared, anomalies } = await refreshFlags(database, candidates, rules, now)
    sagaMetrics.found(anomalies)
    return { set, cleared, next }
  }
  let open = [...flagSources]
  // Sources take turns page by page, so that none waits for a long one.
  while (open.length > 0 && mayContinue()) {
    const unfinished: FlagSource[] = []
    for (const source of open) {
      if (!mayContinue()) break
      try {
        const { set, cleared, next } = await sweepPage(source)
        changed.set += set
        changed.cleared += cleared
        position[source.name] = next ?? beginning(source, cutoffs)
        if (next && source.readsAllPages) unfinished.push(source)
      } catch (error) {
        // The other sources go on. The next run reads the same page again.
        logger.warn({ err: error, source: source.name }, 'could not set the flags of sagas')
      }
    }
    open = unfinished
    await writeSweepPosition(database, name, position)
  }
  return changed
}

const cutoffsOf = ({ graceMs, stuckAfterMs, parkedAfterMs }: FlagRules, now: Date): FlagCutoffs => ({
  overdue: before(now, graceMs),
  idle: before(now, stuckAfterMs),
  parked: before(now, parkedAfterMs),
  now,
})

/** Returns the position from which a finished source is read again. */
const beginning = (source: FlagSource, cutoffs: FlagCutoffs): readonly string[] =>
  source.isChronological ? [before(cutoffs[source.cutoff], overlapMs).toISOString(), '', ''] : source.start

const before = (time: Date, ms: number): Date => new Date(time.getTime() - ms)

/**
 * Derives the flags of these sagas, and of these activities without a saga, and stores the changes.
 *
 * @returns the numbers of set and cleared flags, and the anomalies of activities that became inconsistent
 */
async function refreshFlags(
  database: Database,
  keys: readonly FlagCandidate[],
  rules: FlagRules,
  now: Date,
): Promise<{ set: number; cleared: number; anomalies: string[] }> {
  if (keys.length === 0) return { set: 0, cleared: 0, anomalies: [] }
  const states = await readFlagStates(database, keys)
  const changes = states.map((state) => changesOf(state, rules, now))
  const all: FlagChanges = {
    set: changes.flatMap(({ set }) => set),
    cleared: changes.flatMap(({ cleared }) => cleared),
  }
  await writeFlags(database, all)
  const anomalies = states.flatMap(({ activities }, index) => anomaliesIn(activities, changes[index]))
  return { set: all.set.length, cleared: all.cleared.length, anomalies }
}

/** Returns the anomalies of activities that these changes make inconsistent. */
const anomaliesIn = (activities: FlagState['activities'], changes: FlagChanges | undefined): string[] => {
  const flagged = changes?.set
    .filter(({ kind }) => kind === 'inconsistent')
    .map(({ activityId }) => activityId)
  return activities.flatMap(({ id, anomalies }) => (flagged?.includes(id) ? anomalies : []))
}

function changesOf(state: FlagState, rules: FlagRules, now: Date): FlagChanges {
  const { tenant, sagaId, saga, activities, flags } = state
  const derived = derive(state, rules, now)
  const firstSeenAt = saga?.firstSeenAt ?? activities[0]?.firstSeenAt ?? now
  const isNew = (flag: SagaFlag) => !flags.some((stored) => isSameFlag(stored, flag))
  const isGone = (flag: SagaFlag) =>
    !derived.some(({ kind, activityId }) => kind === flag.kind && activityId === flag.activityId)
  const toChange = (flag: SagaFlag): FlagChange => ({ ...flag, tenant, sagaId, firstSeenAt })
  return { set: derived.filter(isNew).map(toChange), cleared: flags.filter(isGone).map(toChange) }
}

function derive({ sagaId, saga, activities }: FlagState, rules: FlagRules, now: Date): SagaFlag[] {
  if (sagaId === '') return activities.flatMap((activity) => deriveParkedActivityFlags(activity, rules, now))
  return saga ? deriveSagaFlags(saga, activities, rules, now) : []
}
