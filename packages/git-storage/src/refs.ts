import { createHash } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isRefName } from '@switchyard/domain/commit'
import { objectChild } from './children/child-kinds.js'
import { linesOf, runGitOk } from './git-process.js'
import type { Repository } from './repository.js'

const timeoutMs = 60_000
/** git repeats the name of a reference that does not exist. */
const answerLineBytes = 8_192

export const branchRef = (branch: string) => `refs/heads/${branch}`

/** Id of the commit that a branch points to; null when there is no such branch. */
export async function findBranchTip(repository: Repository, branch: string): Promise<string | null> {
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
  repository: Repository,
  names: readonly string[],
): Promise<Map<string, string>> {
  const asked = names.flatMap((name) => [name, ...longerNames(name)])
  const question = {
    input: asked.map((name) => `info ${name}\n`).join(''),
    answerBytesMax: answerLineBytes * (asked.length + 1),
    timeoutMs,
  }
  const { bytes } = await repository.engine.children.ask(repository, objectChild, question)
  const ids = linesOf(bytes).map((line) => /^([0-9a-f]{40}) \w+ \d+$/.exec(line)?.[1])
  const found = new Map(asked.flatMap((name, index) => (ids[index] ? [[name, ids[index]] as const] : [])))
  const hasLongerNames = names.some((name) => longerNames(name).some((longer) => found.has(longer)))
  return hasLongerNames ? findExactRefs(repository, names) : found
}

/** Names that git completes a name to when there is no reference of exactly this name. */
const longerNames = (name: string) =>
  ['refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/'].map((folder) => folder + name)

async function findExactRefs(repository: Repository, names: readonly string[]): Promise<Map<string, string>> {
  const command = { command: 'for-each-ref', flags: ['--format=%(objectname) %(refname)'] }
  const { stdout } = await runGitOk(repository, { ...command, paths: [...names] })
  // A pattern also matches references below a folder of that name.
  const found = linesOf(stdout).map((line) => [line.slice(41), line.slice(0, 40)] as const)
  return new Map(found.filter(([name]) => names.includes(name)))
}

/**
 * Whether no branch exists yet. A list of projects asks this about each, so git is asked again only when its files of references have
 * changed since.
 */
export async function hasNoBranch(repository: Repository): Promise<boolean> {
  const { path, engine } = repository
  const changed = await Promise.all(
    ['refs/heads', 'packed-refs'].map((name) =>
      stat(join(path, name), { bigint: true }).then(
        ({ mtimeNs }) => mtimeNs,
        () => null,
      ),
    ),
  )
  const key = `branches ${changed.join(' ')}`
  const known = engine.cache.get<{ exists: boolean }>(path, key)
  if (known) return !known.exists
  // A branch in a folder that is there already does not change the time of the folder above it.
  const folders = await readdir(join(path, 'refs/heads')).catch(() => null)
  const { stdout } = await runGitOk(repository, {
    command: 'for-each-ref',
    flags: ['--count=1', '--format=%(refname)'],
    paths: ['refs/heads/'],
  })
  const exists = stdout.length > 0
  if (exists || folders?.length === 0) engine.cache.set(path, key, { exists }, key.length * 2)
  return !exists
}

const usualNames = ['main', 'master']

/** Whether git-annex keeps its own data in the branch: nobody works on it. */
export const isBranchOfGitAnnex = (name: string): boolean =>
  name === 'git-annex' || name.startsWith('synced/')

/**
 * A substitute for a default branch that does not exist: `main` or `master`, else the first branch by name, those of
 * git-annex last; null when the repository has no branch.
 */
export async function findUsualBranch(repository: Repository): Promise<string | null> {
  const { stdout } = await runGitOk(repository, {
    command: 'for-each-ref',
    flags: ['--count=1000', '--format=%(refname)'],
    paths: ['refs/heads/'],
  })
  const branches = namesIn('refs/heads/', stdout)
  const usual = usualNames.find((name) => branches.includes(name))
  return usual ?? branches.find((name) => !isBranchOfGitAnnex(name)) ?? branches[0] ?? null
}

/** Less than a transaction of the database lasts. */
const headMs = 3_000

/**
 * Sets HEAD, the branch that a clone checks out. A transaction of the database waits for it, so it takes no slot and little time, and
 * the client that disconnects does not end it.
 */
export async function pointHeadTo({ path }: Repository, branch: string): Promise<void> {
  const command = { command: 'symbolic-ref', paths: ['HEAD', branchRef(branch)] }
  await runGitOk(path, command, { timeoutMs: headMs })
}

/** Prefix of hidden references that keep commits from being removed as unreachable. */
export const keptPrefix = 'refs/keep-around/'

/** Flags of git for every reference that clients can see. */
export const everyReference = [`--exclude=${keptPrefix}*`, '--all']

/** A key for answers about every reference: it changes whenever one that clients can see is added, moved or removed. */
export async function fingerprintOfReferences(repository: Repository): Promise<string> {
  const command = { command: 'for-each-ref', flags: ['--format=%(refname) %(objectname)'] }
  const { stdout } = await runGitOk(repository, command, { stdoutBytesMax: Number.POSITIVE_INFINITY })
  const hash = createHash('sha256')
  for (const line of linesOf(stdout)) if (!line.startsWith(keptPrefix)) hash.update(`${line}\n`)
  return `references ${hash.digest('hex')}`
}

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
  repository: Repository,
  id: string,
  preferred: string,
): Promise<string | null> {
  const branches = await findReferencesContaining(repository, id, 'refs/heads/')
  return branches.find((branch) => branch === preferred) ?? branches[0] ?? null
}

/** Names of the branches, or of the tags, that have a commit in their history, by name. */
export async function findReferencesContaining(
  repository: Repository,
  id: string,
  folder: 'refs/heads/' | 'refs/tags/',
): Promise<string[]> {
  const command = { command: 'for-each-ref', flags: ['--format=%(refname)', `--contains=${id}`] }
  const { stdout } = await runGitOk(repository, { ...command, paths: [folder] })
  return namesIn(folder, stdout)
}

/**
 * Ids of the commits that no reference leads to yet, the newest first, of all those in the history of some commits or tags.
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
