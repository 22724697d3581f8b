import {
  countSagasByKind,
  type FailureGroup,
  groupFailures,
  measureSagaDurations,
  type Readable,
  type SagaDurations,
  type SagaKindCount,
  type StatsRange,
} from '@switchyard/db'

export interface SagaFigures {
  counts: SagaKindCount[]
  durations: SagaDurations[]
  failures: FailureGroup[]
}

/** Groups of failures that are shown. */
const failureGroupsMax = 50

/** Counts, durations and failures of the sagas that were created in a range of time. */
export async function measureSagas(database: Readable, range: StatsRange): Promise<SagaFigures> {
  const [counts, durations, failures] = await Promise.all([
    countSagasByKind(database, range),
    measureSagaDurations(database, range),
    groupFailures(database, range, failureGroupsMax),
  ])
  return { counts, durations, failures }
}
