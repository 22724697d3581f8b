import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { excerpt } from '@switchyard/domain'
import { type GitCommand, type RunOptions, runGitOk } from '../processes/git-process.js'
import { isOneLine } from '../processes/path-arguments.js'
import { lfsUploads, makeUploadFolder } from './lfs-objects.js'

/** Locked files by path, each with the user name of the lock's owner. */
export type FileLocks = ReadonlyMap<string, string>

/** Most branches that are checked one by one when a push changes locked files. */
const tipsMax = 50

/**
 * Finds the new commits of branches that must be refused: a commit that comes with the push changes a locked
 * file, and the `.gitattributes` of the branch declare the file `lockable`.
 *
 * One process checks the commits of all branches together, which is enough unless a locked file is changed.
 *
 * @param tips ids of the new commits of the branches
 * @param given a lock of a path with a line break has no effect, because git would read several paths
 * @returns id of a commit → the reason for refusing it
 */
export async function findLockedChanges(
  path: string,
  tips: readonly string[],
  given: FileLocks,
): Promise<Map<string, string>> {
  const refusals = new Map<string, string>()
  const locks = new Map([...given].filter(([file]) => isOneLine(file)))
  const distinct = [...new Set(tips)]
  if (locks.size === 0 || distinct.length === 0) return refusals
  if ((await listChangedFiles(path, distinct, locks)).length === 0) return refusals
  for (const [index, tip] of distinct.entries()) {
    if (index >= tipsMax) {
      refusals.set(tip, 'This push changes files that are locked in Git LFS; push fewer branches at once')
      continue
    }
    const changed = await listChangedFiles(path, [tip], locks)
    const [locked] = changed.length === 0 ? [] : await listLockableFiles(path, tip, changed)
    if (locked !== undefined) {
      refusals.set(tip, `'${excerpt(locked)}' is locked in Git LFS by @${locks.get(locked)}`)
    }
  }
  return refusals
}

/**
 * Lists the locked files that new commits change. A commit is new when no reference leads to it. A merge
 * changes the files that differ from those of all its parents.
 */
async function listChangedFiles(path: string, tips: readonly string[], locks: FileLocks): Promise<string[]> {
  const flags = ['--full-history', '--no-renames', '-c', '--name-only', '-z', '--format=', '--ignore-missing']
  const { stdout } = await runGitOk(
    path,
    // The commits of the standard input come before `--not`.
    { command: 'log', flags: [...flags, '--stdin', '--not', '--all'] },
    { stdin: [...tips, '--', ...locks.keys()].join('\n') },
  )
  // A path in the standard input also stands for the files below it.
  return [...new Set(stdout.toString().split('\0'))].filter((file) => locks.has(file))
}

/** Lists the files that the `.gitattributes` of a commit declare lockable. git reads them from an index. */
async function listLockableFiles(path: string, commit: string, files: readonly string[]): Promise<string[]> {
  await makeUploadFolder(path)
  const index = join(path, lfsUploads, randomUUID())
  const run = (command: GitCommand, options: RunOptions = {}) =>
    runGitOk(path, command, { ...options, variables: { GIT_INDEX_FILE: index } })
  try {
    await run({ command: 'read-tree', revisions: [commit] })
    const { stdout } = await run(
      { command: 'check-attr', flags: ['--cached', '--stdin', '-z', 'lockable'] },
      { stdin: files.join('\0') },
    )
    const fields = stdout.toString().split('\0')
    return fields.filter((_file, at) => at % 3 === 0 && fields[at + 2] === 'set')
  } finally {
    await rm(index, { force: true })
  }
}
