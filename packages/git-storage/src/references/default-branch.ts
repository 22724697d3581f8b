import { open, opendir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { branchesFolder, branchRef } from '@switchyard/domain/commit'
import { runGitOk } from '../processes/git-process.js'
import type { Repository } from '../repository.js'
import { findRefs } from './find-refs.js'
import { shortNamesIn } from './list-refs.js'

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
    const command = { command: 'for-each-ref', flags, paths: [branchesFolder] }
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
    for await (const line of packed.readLines()) if (line.startsWith(branchesFolder, 41)) return true
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
    paths: [branchesFolder],
  })
  const branches = shortNamesIn(stdout)
  return branches.find((name) => !isBranchOfGitAnnex(name)) ?? branches[0] ?? null
}
