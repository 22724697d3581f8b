import { isRefName } from '@switchyard/domain/commit'
import { runGitOk } from './git-process.js'
import type { OpenRepository } from './open-repository.js'
import { linesOf } from './output-lines.js'

export const branchRef = (branch: string) => `refs/heads/${branch}`

/** Id of the commit that a branch points to; null when there is no such branch. */
export async function findBranchTip(repository: OpenRepository, branch: string): Promise<string | null> {
  if (!isRefName(branch)) return null
  const ref = branchRef(branch)
  return (await findRefs(repository, [ref])).get(ref) ?? null
}

/**
 * Object ids of references by name. References that do not exist are left out.
 *
 * @param names full, valid names
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
  // A pattern also matches references below a folder of that name.
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
 * A substitute for a default branch that does not exist: `main` or `master`, else the first branch by name; null when the
 * repository has no branch.
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

/** Sets HEAD, the branch that a clone checks out. */
export async function pointHeadTo({ path, signal }: OpenRepository, branch: string): Promise<void> {
  await runGitOk(path, { command: 'symbolic-ref', paths: ['HEAD', branchRef(branch)] }, { signal })
}

/** Prefix of hidden references that keep commits from being removed as unreachable. */
export const keptPrefix = 'refs/keep-around/'

/** Flags of git for every reference that clients can see. */
export const everyReference = [`--exclude=${keptPrefix}*`, '--all']

const namesIn = (folder: string, refs: Buffer): string[] =>
  refs
    .toString()
    .split('\n')
    .filter(Boolean)
    .map((ref) => ref.slice(folder.length))

/**
 * A branch that contains a commit: the preferred one when it does, else the first one by name; null when no branch contains
 * the commit.
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
