import { isUtf8 } from 'node:buffer'
import { isRefusal } from '@switchyard/domain'
import { bytesOfName, nameOf } from '@switchyard/domain/commit'
import { GitError, runGitOk, type SpawnOptions } from '../processes/git-process.js'
import type { Repository } from '../repository.js'
import { parseChanges } from './parse-changes.js'
import { type DiffEntry, leftOut, parseDiff } from './parse-diff.js'
import { cachedEntries, diffAnswerBytesMax, diffLimits, flagUncompared, listChangesOf } from './read-diff.js'

/**
 * The objects to compare: a commit with its first parent, a root commit with the empty tree, or two commits.
 */
export type Compared = readonly [commitId: string] | readonly [from: string, to: string]

const timeoutMs = 20_000
/** Limits for the diff of one file, whose patch may fill the whole output of git. */
const fileLimits = { patchBytesMax: 2 * 1024 * 1024, diffBytesMax: diffAnswerBytesMax }
const patchFlags = ['--patch', '--no-color', '--no-ext-diff', '--no-textconv']
const comparison = ['--no-commit-id', '-r', '-M', '--root', '--diff-merges=first-parent', '-z', '--raw']

interface DiffTree extends Pick<SpawnOptions, 'variables'> {
  /** Flags that select the output of git after the list of changes. */
  flags: string[]
  paths?: string[] | undefined
  /** Path of the repository in which git runs. Unset: the repository itself. */
  runsIn?: string
}

function diffTree(
  repository: Repository,
  revisions: readonly string[],
  { flags, paths, runsIn, variables }: DiffTree,
) {
  const command = {
    command: 'diff-tree',
    flags: [...comparison, ...flags, '--full-index'],
    revisions: [...revisions],
    ...(paths && { paths }),
  }
  const { processBytesMax: memoryBytesMax } = repository.engine.slots
  const limits = { timeoutMs, stdoutBytesMax: diffAnswerBytesMax, memoryBytesMax }
  return runGitOk(repository, command, { runsIn, ...limits, ...(variables && { variables }) })
}

/**
 * Returns the differences between two commits or trees, with renames.
 *
 * @param where where git runs, and with which objects. Unset: in the repository
 * @throws DomainError unavailable after 20 seconds; too-large when git needs more memory than it may use
 */
export async function diffBetween(
  repository: Repository,
  from: string,
  to: string,
  where: Pick<DiffTree, 'runsIn' | 'variables'> = {},
): Promise<DiffEntry[]> {
  const { stdout, truncated } = await diffTree(repository, [from, to], { flags: patchFlags, ...where })
  return flagUncompared(repository, await parseDiff(stdout, truncated, diffLimits))
}

/**
 * Returns the differences between the merge base of two commits and `to`, with renames.
 *
 * @returns null when the commits have no merge base, or several
 * @throws DomainError like diffBetween
 */
export async function diffFromMergeBase(
  repository: Repository,
  from: string,
  to: string,
): Promise<DiffEntry[] | null> {
  try {
    const flags = ['--merge-base', ...patchFlags]
    const { stdout, truncated } = await diffTree(repository, [from, to], { flags })
    return await flagUncompared(repository, await parseDiff(stdout, truncated, diffLimits))
  } catch (error) {
    if (error instanceof GitError && /^fatal: (?:no|multiple) merge bases? found/m.test(error.stderr))
      return null
    throw error
  }
}

/**
 * Returns the differences, with the numbers of lines instead of patches.
 *
 * @throws DomainError like diffBetween
 */
export async function listChanges(repository: Repository, [first, second]: Compared): Promise<DiffEntry[]> {
  if (second === undefined) return listChangesOf(repository, first)
  return cachedEntries(repository, `changes ${first} ${second}`, async () => {
    const { stdout } = await diffTree(repository, [first, second], { flags: ['--numstat'] })
    return parseChanges(stdout)
  })
}

/**
 * Returns the differences in one file, whose patch may be longer than in a list of all files.
 *
 * @param filePath the old or the new path
 * @returns no entry when the file does not differ; two when its type has changed
 * @throws DomainError like diffBetween
 */
export async function readFileDiff(
  repository: Repository,
  compared: Compared,
  filePath: string,
): Promise<DiffEntry[]> {
  const changes = await listChanges(repository, compared)
  const name = nameOf(bytesOfName(filePath.replace(/^\/+/, '')))
  const isWanted = ({ oldPath, newPath }: DiffEntry) => oldPath === name || newPath === name
  const found = changes.filter(isWanted)
  if (found.length === 0) return []
  const paths = argumentsFor(found)
  try {
    const { stdout, truncated } = await diffTree(repository, compared, { flags: patchFlags, paths })
    const entries = await parseDiff(stdout, truncated, fileLimits)
    return await flagUncompared(repository, entries.filter(isWanted))
  } catch (error) {
    if (!isRefusal(error, 'too-large')) throw error
    return found.map(({ lines: _, ...entry }) => ({ ...entry, ...leftOut }))
  }
}

/**
 * Returns both paths of each change as arguments, so that git finds the same renames. Arguments of a process
 * are UTF-8. A path that is not UTF-8 is replaced by the nearest folder above it whose path is UTF-8.
 *
 * @returns undefined for the whole tree
 */
function argumentsFor(changes: readonly DiffEntry[]): string[] | undefined {
  const paths = changes.flatMap(({ oldPath, newPath }) => [oldPath, newPath]).map(utf8Path)
  return paths.includes('') ? undefined : [...new Set(paths)]
}

function utf8Path(name: string): string {
  let bytes = bytesOfName(name)
  while (!isUtf8(bytes)) bytes = bytes.subarray(0, Math.max(0, bytes.lastIndexOf('/')))
  return bytes.toString()
}
