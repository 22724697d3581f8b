import { createHash } from 'node:crypto'
import { open, opendir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tooLarge } from '@switchyard/domain'
import { isRefName } from '@switchyard/domain/commit'
import { objectChild } from '../processes/child-kinds.js'
import { linesOf, runGitOk } from '../processes/git-process.js'
import type { Repository } from '../repository.js'

const timeoutMs = 60_000
/** Longest line of an answer, because git repeats the name of a missing reference. */
const answerLineBytes = 8_192

export const branchRef = (branch: string) => `refs/heads/${branch}`

/** Finds the commit that a branch points to; null when there is no such branch. */
export async function findBranchTip(repository: Repository, branch: string): Promise<string | null> {
  if (!isRefName(branch)) return null
  const ref = branchRef(branch)
  return (await findRefs(repository, [ref])).get(ref) ?? null
}

/**
 * Finds the object ids of references by name. Missing references are left out.
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

/** Returns the names to which git completes a name when there is no reference of exactly this name. */
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
 * Returns whether the repository has no branch. A list of projects asks this about each project, so a process
 * of git is only started when references are not kept in files.
 */
export async function hasNoBranch(repository: Repository): Promise<boolean> {
  const { path } = repository
  try {
    // The order matters, because git packs a branch before it removes the file.
    return !((await hasBranchFile(join(path, 'refs/heads'))) || (await hasPackedBranch(path)))
  } catch (error) {
    if (!isUnknownLayout(error)) throw error
    const flags = ['--count=1', '--format=%(refname)']
    const command = { command: 'for-each-ref', flags, paths: ['refs/heads/'] }
    return (await runGitOk(repository, command)).stdout.length === 0
  }
}

/**
 * Returns whether references are kept in another way: `refs/heads` is a file when references are kept in
 * tables, and is missing in a folder that is not a repository.
 */
const isUnknownLayout = (error: unknown) =>
  ['ENOTDIR', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')

/**
 * Content of the file of a branch. git ignores files with other content, such as one that a power failure
 * left empty.
 */
const branchContent = /^(?:[0-9a-f]{40}|ref: refs\/heads\/.+)\n$/

async function hasBranchFile(folder: string): Promise<boolean> {
  for await (const entry of await opendir(folder)) {
    const path = join(folder, entry.name)
    const found = entry.isDirectory() ? hasBranchFile(path) : isBranchFile(path)
    // A branch that is deleted or packed meanwhile takes its file and empty folders with it.
    if (await found.catch(() => false)) return true
  }
  return false
}

const isBranchFile = async (path: string) =>
  !path.endsWith('.lock') && branchContent.test(await readFile(path, 'latin1'))

/**
 * Returns whether a packed branch exists. The lines are sorted by name, so the first ones nearly always
 * answer.
 */
async function hasPackedBranch(path: string): Promise<boolean> {
  const packed = await open(join(path, 'packed-refs')).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (!packed) return false
  try {
    for await (const line of packed.readLines()) if (line.startsWith('refs/heads/', 41)) return true
    return false
  } finally {
    await packed.close()
  }
}

const usualNames = ['main', 'master']

/** Returns whether git-annex keeps its own data in the branch, so that nobody works on it. */
export const isBranchOfGitAnnex = (name: string): boolean =>
  name === 'git-annex' || name.startsWith('synced/')

/**
 * Finds a substitute for a default branch that does not exist: `main` or `master`, otherwise the first branch
 * by name, with those of git-annex last; null when the repository has no branch.
 */
export async function findUsualBranch(repository: Repository): Promise<string | null> {
  const found = await findRefs(repository, usualNames.map(branchRef))
  const usual = usualNames.find((name) => found.has(branchRef(name)))
  if (usual !== undefined) return usual
  const { stdout } = await runGitOk(repository, {
    command: 'for-each-ref',
    flags: ['--count=1000', '--format=%(refname)'],
    paths: ['refs/heads/'],
  })
  const branches = namesIn('refs/heads/', stdout)
  return branches.find((name) => !isBranchOfGitAnnex(name)) ?? branches[0] ?? null
}

/** Prefix of hidden references that keep commits from being removed as unreachable. */
export const keptPrefix = 'refs/keep-around/'

/** Flags of git for every reference that clients can see. */
export const everyReference = [`--exclude=${keptPrefix}*`, '--all']

/**
 * Returns a key for answers about every reference. It changes whenever a reference that clients can see is
 * added, moved or removed.
 *
 * @throws DomainError too-large when the references take more than 64 MB
 */
export async function fingerprintOfReferences(repository: Repository): Promise<string> {
  const command = { command: 'for-each-ref', flags: ['--format=%(refname) %(objectname)'] }
  const { stdout, truncated } = await runGitOk(repository, command)
  if (truncated) throw tooManyReferences()
  const hash = createHash('sha256')
  for (const line of linesOf(stdout)) if (!line.startsWith(keptPrefix)) hash.update(`${line}\n`)
  return `references ${hash.digest('hex')}`
}

export const tooManyReferences = () => tooLarge('The repository has too many references to list')

const namesIn = (folder: string, refs: Buffer): string[] =>
  refs
    .toString()
    .split('\n')
    .filter(Boolean)
    .map((ref) => ref.slice(folder.length))

/**
 * Finds a branch that contains a commit: the preferred one when it does, otherwise the first one by name;
 * null when no branch contains the commit.
 */
export async function findBranchContaining(
  repository: Repository,
  id: string,
  preferred: string,
): Promise<string | null> {
  const branches = await listReferencesContaining(repository, id, 'refs/heads/')
  return branches.find((branch) => branch === preferred) ?? branches[0] ?? null
}

/** Lists the branches, or the tags, that have a commit in their history, by name. */
export async function listReferencesContaining(
  repository: Repository,
  id: string,
  folder: 'refs/heads/' | 'refs/tags/',
): Promise<string[]> {
  const command = { command: 'for-each-ref', flags: ['--format=%(refname)', `--contains=${id}`] }
  const { stdout } = await runGitOk(repository, { ...command, paths: [folder] })
  return namesIn(folder, stdout)
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
