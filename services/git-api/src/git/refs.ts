import { invalid } from '@switchyard/domain'
import { isRefName } from '@switchyard/domain/commit'
import { updateRefChild } from './children/child-kinds.js'
import { gitFailure, runGit, runGitOk } from './git-process.js'
import type { OpenRepository } from './open-repository.js'

const zeroId = '0'.repeat(40)

export const branchRef = (branch: string) => `refs/heads/${branch}`

/** The commit a branch stands on; null when there is no such branch. */
export async function findBranchTip(
  { path, engine, signal }: OpenRepository,
  branch: string,
): Promise<string | null> {
  if (!isRefName(branch)) return null
  const known = engine.local.open(path).findRef(branchRef(branch))
  if (known !== undefined) return known
  const { stdout } = await runGitOk(
    path,
    { command: 'for-each-ref', flags: ['--format=%(refname) %(objectname)'], paths: [branchRef(branch)] },
    { signal },
  )
  // The pattern also finds branches below a folder of this name.
  const line = stdout
    .toString()
    .split('\n')
    .find((text) => text.startsWith(`${branchRef(branch)} `))
  return line?.split(' ')[1] ?? null
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
  const branches = branchNames(stdout)
  return usualNames.find((name) => branches.includes(name)) ?? branches[0] ?? null
}

/** Makes a branch the one that clones check out. */
export async function pointHeadTo({ path, signal }: OpenRepository, branch: string): Promise<void> {
  await runGitOk(path, { command: 'symbolic-ref', paths: ['HEAD', branchRef(branch)] }, { signal })
}

/** Where kept commits are named; no client is told of these references. */
export const keptPrefix = 'refs/keep-around/'

/** Keeps a commit from being cleaned up, whatever becomes of the branches that lead to it. */
export async function keepCommit({ path, engine, signal }: OpenRepository, id: string): Promise<void> {
  const input = `start\0update ${keptPrefix}${id}\0${id}\0\0commit\0`
  const question = { input, answerBytesMax: 1024, timeoutMs: keepTimeoutMs }
  await engine.children.ask(path, updateRefChild, question, signal)
}

const keepTimeoutMs = 60_000

const branchNames = (refs: Buffer): string[] =>
  refs
    .toString()
    .split('\n')
    .filter(Boolean)
    .map((ref) => ref.slice(branchRef('').length))

/**
 * Moves a branch from one commit to another, on disk before it returns.
 *
 * @param from where it must stand now; null: it must not exist
 * @returns false, and nothing changed, when it stands elsewhere
 * @throws GitError when git refuses for another reason
 */
export async function moveBranch(
  repository: OpenRepository,
  { branch, from, to }: { branch: string; from: string | null; to: string },
): Promise<boolean> {
  const command = { command: 'update-ref', flags: ['--stdin', '-z'] }
  const stdin = `update ${branchRef(branch)}\0${to}\0${from ?? zeroId}\0`
  const result = await runGit(repository.path, command, { stdin })
  if (result.code === 0) return true
  if ((await findBranchTip({ ...repository, signal: undefined }, branch)) !== from) return false
  // Branches are files to git: none can have the name of a folder of another.
  if (/exists; cannot create|there (?:is|are) still (?:refs|logs)|non-empty directory/.test(result.stderr)) {
    throw invalid('A branch above or below this name exists. Branch name is invalid')
  }
  throw gitFailure(command, result)
}

/**
 * The branch that a commit belongs to: the preferred one when it contains it, else the first by name
 * that does; null when none does.
 */
export async function findBranchContaining(
  { path, signal }: OpenRepository,
  id: string,
  preferred: string,
): Promise<string | null> {
  const { stdout } = await runGitOk(
    path,
    { command: 'for-each-ref', flags: ['--format=%(refname)', `--contains=${id}`], paths: ['refs/heads/'] },
    { signal },
  )
  const branches = branchNames(stdout)
  return branches.find((branch) => branch === preferred) ?? branches[0] ?? null
}
