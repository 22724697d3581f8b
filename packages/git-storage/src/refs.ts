import { isRefName } from '@switchyard/domain/commit'
import { runGitOk } from './git-process.js'
import type { OpenRepository } from './open-repository.js'
import { linesOf } from './output-lines.js'

export const branchRef = (branch: string) => `refs/heads/${branch}`

/** The commit a branch stands on; null when there is no such branch. */
export async function findBranchTip(repository: OpenRepository, branch: string): Promise<string | null> {
  if (!isRefName(branch)) return null
  const ref = branchRef(branch)
  return (await findRefs(repository, [ref])).get(ref) ?? null
}

/**
 * The objects that references stand on, by name; references that do not exist are left out.
 *
 * @param names full names, checked to be valid
 */
export async function findRefs(
  { path, engine, signal }: OpenRepository,
  names: readonly string[],
): Promise<Map<string, string>> {
  const local = engine.local.open(path)
  const known = await Promise.all(names.map(async (name) => [name, await local.findRef(name)] as const))
  if (known.every(([, id]) => id !== undefined))
    return new Map(known.flatMap(([name, id]) => (id ? [[name, id]] : [])))
  const { stdout } = await runGitOk(
    path,
    { command: 'for-each-ref', flags: ['--format=%(objectname) %(refname)'], paths: [...names] },
    { signal },
  )
  // Each pattern also finds references below a folder of that name.
  const found = linesOf(stdout).map((line) => [line.slice(41), line.slice(0, 40)] as const)
  return new Map(found.filter(([name]) => names.includes(name)))
}

/** Whether no branch exists yet. */
export async function hasNoBranch({ path, signal }: OpenRepository): Promise<boolean> {
  const { stdout } = await runGitOk(
    path,
    { command: 'for-each-ref', flags: ['--count=1', '--format=%(refname)'], paths: ['refs/heads/'] },
    { signal },
  )
  return stdout.length === 0
}

const usualNames = ['main', 'master']

/**
 * The branch to show of a repository whose default branch does not exist: one with a usual name, else
 * the first by name; null when there is none.
 */
export async function findUsualBranch({ path, signal }: OpenRepository): Promise<string | null> {
  const { stdout } = await runGitOk(
    path,
    { command: 'for-each-ref', flags: ['--count=1000', '--format=%(refname)'], paths: ['refs/heads/'] },
    { signal },
  )
  const branches = namesIn('refs/heads/', stdout)
  return usualNames.find((name) => branches.includes(name)) ?? branches[0] ?? null
}

/** Makes a branch the one that clones check out. */
export async function pointHeadTo({ path, signal }: OpenRepository, branch: string): Promise<void> {
  await runGitOk(path, { command: 'symbolic-ref', paths: ['HEAD', branchRef(branch)] }, { signal })
}

/** Where kept commits are named; no client is told of these references. */
export const keptPrefix = 'refs/keep-around/'

/** Flags of git that mean every reference a client may know of. */
export const everyReference = [`--exclude=${keptPrefix}*`, '--all']

const namesIn = (folder: string, refs: Buffer): string[] =>
  refs
    .toString()
    .split('\n')
    .filter(Boolean)
    .map((ref) => ref.slice(folder.length))

/**
 * The branch that a commit belongs to: the preferred one when it contains it, else the first by name
 * that does; null when none does.
 */
export async function findBranchContaining(
  repository: OpenRepository,
  id: string,
  preferred: string,
): Promise<string | null> {
  const branches = await findReferencesContaining(repository, id, 'refs/heads/')
  return branches.find((branch) => branch === preferred) ?? branches[0] ?? null
}

/** Names of the branches, or of the tags, that have a commit in their history, by name. */
export async function findReferencesContaining(
  { path, signal }: OpenRepository,
  id: string,
  folder: 'refs/heads/' | 'refs/tags/',
): Promise<string[]> {
  const command = { command: 'for-each-ref', flags: ['--format=%(refname)', `--contains=${id}`] }
  const { stdout } = await runGitOk(path, { ...command, paths: [folder] }, { signal })
  return namesIn(folder, stdout)
}
