import { branchesFolder, branchRef, folderOf, type ReferenceKind } from '@switchyard/domain/commit'
import { linesOf, runGitOk } from '../processes/git-process.js'
import type { Repository } from '../repository.js'
import { type Reference, shortNamesIn } from './list-refs.js'

/**
 * Finds a branch that contains a commit: the preferred one when it does, otherwise the first one by name;
 * null when no branch contains the commit.
 */
export async function findBranchContaining(
  repository: Repository,
  id: string,
  preferred: string,
): Promise<string | null> {
  const branches = await listReferencesContaining(repository, id, 'branch')
  return branches.find((branch) => branch === preferred) ?? branches[0] ?? null
}

/** Lists the branches, or the tags, that have a commit in their history, by name. */
export async function listReferencesContaining(
  repository: Repository,
  id: string,
  kind: ReferenceKind,
): Promise<string[]> {
  const command = { command: 'for-each-ref', flags: ['--format=%(refname)', `--contains=${id}`] }
  const { stdout } = await runGitOk(repository, { ...command, paths: [folderOf[kind]] })
  return shortNamesIn(stdout)
}

/**
 * Lists the commits in the history of some commits or tags that no reference leads to yet, the newest first.
 *
 * @param max the older ones beyond it are left out
 */
export async function listUnreferencedCommits(
  repository: Repository,
  tips: readonly string[],
  max: number,
): Promise<string[]> {
  if (tips.length === 0) return []
  // The commits of the standard input come before `--not`.
  const flags = [`--max-count=${max}`, '--ignore-missing', '--stdin', '--not', '--all']
  const { stdout } = await runGitOk(repository, { command: 'rev-list', flags }, { stdin: tips.join('\n') })
  return linesOf(stdout)
}

/** Approximate memory of an answer about two commits, with its key. */
const mergedBytes = 200

/**
 * Returns those of the given branches whose newest commit is the given commit or one of its ancestors.
 * Commits never change, so known answers about two commits stay true. git is asked about the other branches
 * in one question.
 */
export async function findMerged(
  repository: Repository,
  branches: readonly Reference[],
  commitId: string,
): Promise<Set<string>> {
  const { path, engine } = repository
  const keyOf = (target: string) => `merged ${target} ${commitId}`
  const known = new Map<string, boolean>()
  for (const { target } of branches) {
    const answer = engine.cache.get<{ isMerged: boolean }>(path, keyOf(target))
    if (answer) known.set(target, answer.isMerged)
  }
  const unknown = branches.filter(({ target }) => !known.has(target))
  for (const isMerged of unknown.length === 0 ? [] : [true, false]) {
    for (const target of await readTips(repository, unknown, isMerged ? 'merged' : 'no-merged', commitId)) {
      known.set(target, isMerged)
      engine.cache.set(path, keyOf(target), { isMerged }, mergedBytes)
    }
  }
  // A branch that has moved meanwhile is in neither answer, and does not count as merged.
  return new Set(branches.filter(({ target }) => known.get(target)).map(({ name }) => name))
}

/** Returns the newest commits of those branches that are merged into a commit, or of those that are not. */
async function readTips(
  repository: Repository,
  branches: readonly Reference[],
  state: 'merged' | 'no-merged',
  commitId: string,
): Promise<string[]> {
  const names = branches.map(({ name }) => branchRef(name))
  const flags = [`--${state}=${commitId}`, '--format=%(objectname)']
  // A command line holds a limited number of names. For more, git lists all branches.
  const paths = names.length > 1000 ? [branchesFolder] : names
  return linesOf((await runGitOk(repository, { command: 'for-each-ref', flags, paths })).stdout)
}
