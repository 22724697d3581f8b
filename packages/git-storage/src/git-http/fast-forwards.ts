import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { linesOf, runGit } from '../processes/git-process.js'

/** The move of a branch from one commit to another. */
export interface Move {
  before: string
  after: string
}

/** Most new commits of a push that are listed, over all of its branches. */
const listedCommitsMax = 50_000
/** Most commits that are followed from one new commit before git is asked about that move. */
const followedCommitsMax = 1000
/** Most simultaneous git processes. */
const askedAtOnceMax = 2
/** Time limit for checking all moves of a push. */
const checkingMsMax = 60_000

/**
 * Finds the moves whose new commit contains the old one. A move that cannot be checked, because a commit is
 * missing or the time is over, is not a fast-forward.
 *
 * One process lists the new commits of all moves, which is enough for most moves. `git merge-base` decides
 * about the rest.
 */
export async function findFastForwards(path: string, moves: readonly Move[]): Promise<Set<Move>> {
  const found = new Set<Move>()
  if (moves.length === 0) return found
  const untilMs = performance.now() + checkingMsMax
  const parentsOf = moves.length === 1 ? new Map<string, string[]>() : await listNewCommits(path, moves)
  // Moves between the same two commits are checked once.
  const remaining = new Map<string, Move[]>()
  for (const [index, move] of moves.entries()) {
    if (index % 100 === 99) await yieldToEventLoop()
    if (leadsTo(parentsOf, move)) found.add(move)
    else {
      const key = `${move.before} ${move.after}`
      remaining.set(key, [...(remaining.get(key) ?? []), move])
    }
  }
  const questions = [...remaining.values()][Symbol.iterator]()
  const ask = async () => {
    for (const alike of questions) {
      const [move] = alike
      if (move && performance.now() < untilMs && (await contains(path, move))) {
        for (const same of alike) found.add(same)
      }
    }
  }
  await Promise.all(Array.from({ length: askedAtOnceMax }, ask))
  return found
}

/** Lists parents by commit, for the newest commits that the moves add. Empty when git fails. */
async function listNewCommits(path: string, moves: readonly Move[]): Promise<Map<string, string[]>> {
  const { code, stdout } = await runGit(
    path,
    { command: 'rev-list', flags: ['--parents', `--max-count=${listedCommitsMax}`, '--stdin'] },
    { stdin: [...new Set(moves.flatMap(({ before, after }) => [after, `^${before}`]))].join('\n') },
  )
  const parentsOf = new Map<string, string[]>()
  if (code !== 0) return parentsOf
  for (const line of linesOf(stdout)) {
    const [commit = '', ...parents] = line.split(' ')
    parentsOf.set(commit, parents)
  }
  return parentsOf
}

/**
 * Returns whether the listed commits lead from the new commit to the old one. False does not exclude a longer
 * path.
 */
function leadsTo(parentsOf: ReadonlyMap<string, string[]>, { before, after }: Move): boolean {
  if (before === after) return true
  const seen = new Set([after])
  for (const commit of seen) {
    if (seen.size > followedCommitsMax) return false
    for (const parent of parentsOf.get(commit) ?? []) {
      if (parent === before) return true
      seen.add(parent)
    }
  }
  return false
}

async function contains(path: string, { before, after }: Move): Promise<boolean> {
  const { code } = await runGit(path, {
    command: 'merge-base',
    flags: ['--is-ancestor'],
    revisions: [before, after],
  })
  return code === 0
}
