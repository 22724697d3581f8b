import {
  type Database,
  type FlagCandidate,
  type FlagChange,
  type FlagChanges,
  type FlagState,
  readFlagStates,
  writeFlags,
} from '@switchyard/db'
import {
  deriveParkedActivityFlags,
  deriveSagaFlags,
  type FlagRules,
  isSameFlag,
  type SagaFlag,
} from '@switchyard/domain/saga'

/**
 * Derives the flags of these sagas, and of these activities without a saga, and stores what has changed.
 *
 * @returns how many flags were set and cleared, and the anomalies of the activities that were found inconsistent
 */
export async function refreshFlags(
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

/** Anomalies of the activities that become inconsistent by these changes. */
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
