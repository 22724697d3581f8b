import type { CommitStats } from '@switchyard/domain/commit'
import type { Repository } from '../repository.js'
import { compareCommits, Incomparable } from './compare-commits.js'

const answerBytesMax = 64 * 1024 * 1024
/** Time after which no further comparison begins when commits are compared one by one. */
const oneByOneMs = 10_000
const statsBytes = 50

/** Stats by commit id. Null: git can never compare the commit. Missing: the comparison failed this time. */
export type StatsOfCommits = Map<string, CommitStats | null>

/** Counts the lines that commits add and remove compared with their first parents. */
export async function readStats(repository: Repository, ids: readonly string[]): Promise<StatsOfCommits> {
  const { path, engine } = repository
  const stats: StatsOfCommits = new Map()
  const unknown: string[] = []
  for (const id of ids) {
    const known = engine.cache.get<CommitStats>(path, `stats ${id}`)
    if (known) stats.set(id, known)
    else unknown.push(id)
  }
  if (unknown.length === 0) return stats
  for (const [id, counted] of await countLines(repository, unknown)) {
    if (counted) engine.cache.set(path, `stats ${id}`, counted, statsBytes)
    stats.set(id, counted)
  }
  return stats
}

async function countLines(repository: Repository, ids: readonly string[]): Promise<StatsOfCommits> {
  const answer = await compareCommits(repository, 'numstat', ids, answerBytesMax).catch(orIncomparable)
  const refused = answer instanceof Incomparable
  if (!refused && !answer.truncated) return parseNumstat(answer.stdout.toString('latin1'))
  if (ids.length > 1) return countOneByOne(repository, ids)
  return new Map(refused && !answer.isPermanent ? [] : ids.map((id) => [id, null]))
}

function orIncomparable(error: unknown): Incomparable {
  if (error instanceof Incomparable) return error
  throw error
}

/** Compares each commit alone, so that a commit that cannot be compared does not affect the rest. */
async function countOneByOne(repository: Repository, ids: readonly string[]): Promise<StatsOfCommits> {
  const stats: StatsOfCommits = new Map()
  const until = performance.now() + oneByOneMs
  for (const id of ids) {
    if (performance.now() > until) break
    for (const [counted, lines] of await countLines(repository, [id])) stats.set(counted, lines)
  }
  return stats
}

/**
 * Parses lines with the id of a commit, each followed by a line for each file. Binary files have no numbers.
 */
function parseNumstat(text: string): Map<string, CommitStats> {
  const stats = new Map<string, CommitStats>()
  let current: CommitStats = { additions: 0, deletions: 0 }
  for (const line of text.split('\n')) {
    const [added, removed] = line.split('\t', 2)
    if (removed === undefined) {
      if (line === '') continue
      current = { additions: 0, deletions: 0 }
      stats.set(line, current)
    } else {
      current.additions += Number(added) || 0
      current.deletions += Number(removed) || 0
    }
  }
  return stats
}
