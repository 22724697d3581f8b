import { unavailable } from '@switchyard/domain'
import { parameterProblem } from '@switchyard/service-kit/http'
import { SearchNotEnded, type SharedSource, type TakenSnapshot } from '../sources/sources.js'
import { mergeSnapshots } from './merge-snapshots.js'

export interface Snapshots {
  /** Names of all sources. */
  names: string[]
  /**
   * Returns one snapshot of all sources, or of one. Every endpoint answers from it, so that their metrics
   * agree.
   *
   * @throws DomainError invalid-parameters for an unknown source; unavailable, with the names of the sources
   *   that do not answer
   */
  read(source?: string): Promise<TakenSnapshot>
  /** Reads each source separately, so that one that does not answer hides none of the others. */
  readEach(): Promise<({ name: string } & ({ snapshot: TakenSnapshot } | { message: string }))[]>
}

export function createSnapshots(sources: SharedSource[]): Snapshots {
  let last: { snapshots: TakenSnapshot[]; merged: TakenSnapshot } | null = null

  function merge(snapshots: TakenSnapshot[]): TakenSnapshot {
    const [first] = snapshots
    if (first && snapshots.length === 1) return first
    if (last?.snapshots.every((snapshot, index) => snapshot === snapshots[index])) return last.merged
    const takenMs = Math.min(...snapshots.map((snapshot) => snapshot.takenMs))
    last = { snapshots, merged: { ...mergeSnapshots(snapshots), takenMs } }
    return last.merged
  }

  return {
    names: sources.map(({ name }) => name),
    readEach: () =>
      Promise.all(
        sources.map(async (source) => {
          const [outcome] = await Promise.allSettled([source.read()])
          return outcome.status === 'fulfilled'
            ? { name: source.name, snapshot: outcome.value }
            : { name: source.name, message: unavailableSources([source], [outcome]).message }
        }),
      ),
    async read(name) {
      const asked = name === undefined ? sources : sources.filter((source) => source.name === name)
      if (asked.length === 0) throw parameterProblem('source', 'does not have a valid value')
      const outcomes = await Promise.allSettled(asked.map((source) => source.read()))
      const snapshots = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []))
      if (snapshots.length < asked.length) throw unavailableSources(asked, outcomes)
      return name === undefined ? merge(snapshots) : (snapshots[0] as TakenSnapshot)
    },
  }
}

function unavailableSources(asked: SharedSource[], outcomes: PromiseSettledResult<unknown>[]) {
  const failed = asked.filter((_source, index) => outcomes[index]?.status === 'rejected')
  const names = failed.map((source) => source.name).join(', ')
  const text = failed.length === 1 ? `source ${names} does` : `sources ${names} do`
  const cause = outcomes.find((outcome) => outcome.status === 'rejected')?.reason
  const why = cause instanceof SearchNotEnded ? ': the first search for its queues has not ended' : ''
  return unavailable(`the job queue ${text} not answer${failed.length === 1 ? why : ''}`, { cause })
}
