import type { Commit } from '@switchyard/domain/commit'
import { linesOf, runGit, runGitOk, skipMax } from '../processes/git-process.js'
import type { Repository } from '../repository.js'
import { readCommits } from './read-commits.js'

export interface CommitRange {
  from: string
  to: string
  skip?: number
  take: number
}

/**
 * Finds the newest common ancestor of commits.
 *
 * @param ids at least two, of commits
 * @returns null when they have none
 */
export async function findMergeBase(repository: Repository, ids: readonly string[]): Promise<string | null> {
  const command = { command: 'merge-base', flags: ['--octopus'], revisions: [...ids] }
  const { code, stdout } = await runGit(repository, command)
  return code === 0 ? (linesOf(stdout)[0] ?? null) : null
}

/**
 * Lists the commits in the history of `to` that are not in the history of `from`.
 *
 * @param range `skip` leaves out this many of the newest ones
 * @returns the ids of the newest `take` of the rest, the oldest first, and their number in all
 */
export async function commitsBetween(
  repository: Repository,
  { from, to, skip = 0, take }: CommitRange,
): Promise<{ ids: string[]; total: number }> {
  const revisions = [to, `^${from}`]
  const flags = [`--skip=${Math.min(skip, skipMax)}`, `--max-count=${take}`, '--reverse']
  const listed = await runGitOk(repository, { command: 'rev-list', flags, revisions, paths: [] })
  const ids = linesOf(listed.stdout)
  // A page that is not full ends the list.
  if (ids.length > 0 && ids.length < take) return { ids, total: skip + ids.length }
  const counted = await runGitOk(repository, {
    command: 'rev-list',
    flags: ['--count'],
    revisions,
    paths: [],
  })
  return { ids, total: Number(counted.stdout.toString()) }
}

interface AuthorTimesQuery {
  to: string
  /** Ids of commits whose histories are left out. Missing commits are ignored. */
  without: readonly string[]
  take: number
}

/**
 * Lists the author times, in Unix seconds, of the newest commits in the history of `to`. Merges are left out,
 * because they bring no change of their own.
 */
export async function listAuthorTimes(
  repository: Repository,
  { to, without, take }: AuthorTimesQuery,
): Promise<number[]> {
  const { stdout } = await runGitOk(repository, {
    command: 'log',
    flags: ['--format=%at', '--no-merges', '--ignore-missing', `--max-count=${take}`],
    revisions: [to, ...without.map((id) => `^${id}`)],
    paths: [],
  })
  return linesOf(stdout).map(Number)
}

export interface MentionQuery {
  /** Start of the range. Null: the whole history of `to`. */
  from: string | null
  to: string
  /** Texts to find, each on one line. */
  texts: readonly string[]
  take: number
}

/** Time limit of a search, because it is not meant for longer histories. */
const mentionTimeoutMs = 10_000

/**
 * Lists the commits in the history of `to`, without that of `from`, whose message has one of the texts, in
 * upper or lower case. A commit comes before its parents.
 *
 * @throws DomainError unavailable after ten seconds, and too-large for messages of more than 64 MB: see
 * isTooHard
 */
export async function listMentions(
  repository: Repository,
  { from, to, texts, take }: MentionQuery,
): Promise<Commit[]> {
  const patterns = texts.map((text) => `--grep=${text}`)
  const command = {
    command: 'rev-list',
    flags: ['--topo-order', `--max-count=${take}`, '--regexp-ignore-case', '--fixed-strings', ...patterns],
    revisions: from === null ? [to] : [to, `^${from}`],
    paths: [],
  }
  const { stdout } = await runGitOk(repository, command, { timeoutMs: mentionTimeoutMs })
  return readCommits(repository, linesOf(stdout))
}
