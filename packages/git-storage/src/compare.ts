import { runGit, runGitOk, skipMax } from './git-process.js'
import type { OpenRepository } from './open-repository.js'
import { linesOf } from './output-lines.js'
import { type DiffEntry, parseDiff } from './parse-diff.js'
import { diffAnswerBytesMax, diffLimits, flagUncompared } from './read-diff.js'

const timeoutMs = 20_000
export interface CommitRange {
  from: string
  to: string
  skip?: number
  take: number
}

/**
 * The newest commit that all of some commits have in their history.
 *
 * @param ids at least two, of commits
 * @returns null when they have none
 */
export async function findMergeBase(
  { path, signal }: OpenRepository,
  ids: readonly string[],
): Promise<string | null> {
  const command = { command: 'merge-base', flags: ['--octopus'], revisions: [...ids] }
  const { code, stdout } = await runGit(path, command, { signal })
  return code === 0 ? (linesOf(stdout)[0] ?? null) : null
}

/**
 * What differs between two commits, renames found.
 *
 * @throws DomainError unavailable after 20 seconds; too-large when git needs more memory than it may use
 */
export async function diffBetween(
  repository: OpenRepository,
  from: string,
  to: string,
): Promise<DiffEntry[]> {
  const { path, signal, engine } = repository
  const flags = ['-r', '-M', '-z', '--raw', '--patch', '--no-color', '--no-ext-diff', '--no-textconv']
  const command = { command: 'diff-tree', flags: [...flags, '--full-index'], revisions: [from, to] }
  const limits = { timeoutMs, stdoutBytesMax: diffAnswerBytesMax, memoryBytesMax: engine.processBytesMax }
  const { stdout, truncated } = await runGitOk(path, command, { signal, ...limits })
  return flagUncompared(repository, await parseDiff(stdout, truncated, diffLimits))
}

/**
 * The commits that lead to one commit and not to another.
 *
 * @param range `skip` leaves out this many of the newest ones
 * @returns the ids of the newest `take` of the rest, the oldest first, and how many there are in all
 */
export async function commitsBetween(
  { path, signal }: OpenRepository,
  { from, to, skip = 0, take }: CommitRange,
): Promise<{ ids: string[]; total: number }> {
  const revisions = [to, `^${from}`]
  const [listed, counted] = await Promise.all([
    runGitOk(
      path,
      {
        command: 'rev-list',
        flags: [`--skip=${Math.min(skip, skipMax)}`, `--max-count=${take}`, '--reverse'],
        revisions,
        paths: [],
      },
      { signal },
    ),
    runGitOk(path, { command: 'rev-list', flags: ['--count'], revisions, paths: [] }, { signal }),
  ])
  return { ids: linesOf(listed.stdout), total: Number(counted.stdout.toString()) }
}
