import { conflict } from '@switchyard/domain'
import { type Commit, formatCommitObject, type NewCommit, type Signature } from '@switchyard/domain/commit'
import { gitFailure, runGit } from './git-process.js'
import type { OpenRepository } from './open-repository.js'
import { findCommit } from './read-commits.js'
import { branchRef, moveBranch } from './refs.js'
import { ObjectWriter } from './write-object.js'

export interface PickRequest {
  branch: string
  /** Where the branch stands. */
  tip: string
  /** The commit whose change against its first parent is repeated on the branch. */
  pick: Commit
  committer: Signature
  message: string
  /** Only finds out whether it would work. */
  dryRun: boolean
}

/** Conflicting paths, `empty` when the branch has the change already, or the new commit. */
export type PickResult =
  | { outcome: 'picked'; commit: Commit }
  | { outcome: 'possible' }
  | { outcome: 'empty' }
  | { outcome: 'conflict'; paths: string[] }

const attemptsMax = 20

/**
 * Repeats a commit's change on a branch: a three-way merge without a work tree, with the first parent of
 * the commit as base. When the branch moves meanwhile, the merge is made again.
 *
 * @throws DomainError conflict when the branch vanishes, or keeps moving
 */
export async function pickCommit(repository: OpenRepository, request: PickRequest): Promise<PickResult> {
  const { path, signal } = repository
  const { branch, pick, committer, message } = request
  const writer = new ObjectWriter(path)
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const tip = await findCommit(repository, attempt === 0 ? request.tip : branchRef(branch))
    if (!tip) break
    const merged = await mergeTrees(path, writer, tip, pick, signal)
    if (merged.paths) return { outcome: 'conflict', paths: merged.paths }
    if (merged.treeId === tip.treeId) return { outcome: 'empty' }
    if (request.dryRun) return { outcome: 'possible' }
    const parentIds = [tip.id]
    const content: NewCommit = { treeId: merged.treeId, parentIds, author: pick.author, committer, message }
    const id = await writer.write('commit', formatCommitObject(content))
    await writer.settle()
    signal?.throwIfAborted()
    if (await moveBranch(repository, { branch, from: tip.id, to: id })) {
      return { outcome: 'picked', commit: { id, ...content } }
    }
  }
  throw conflict(`The branch ${branch} was changed meanwhile. Please refresh and try again`)
}

interface MergedTrees {
  treeId: string
  /** Undefined: it merged cleanly. */
  paths?: string[]
}

/**
 * `git merge-tree` takes its base from the history of the two sides. So the branch's tree is given a
 * history in which it follows the parent of the picked commit: a commit that nothing ever refers to.
 */
async function mergeTrees(
  path: string,
  writer: ObjectWriter,
  tip: Commit,
  pick: Commit,
  signal?: AbortSignal,
): Promise<MergedTrees> {
  const nobody = { name: 'Switchyard', email: '', seconds: 0, offsetMinutes: 0 }
  const parentIds = pick.parentIds.slice(0, 1)
  const side = { treeId: tip.treeId, parentIds, author: nobody, committer: nobody, message: '' }
  const ours = await writer.write('commit', formatCommitObject(side))
  const theirs =
    pick.parentIds.length < 2
      ? pick.id
      : await writer.write('commit', formatCommitObject({ ...side, treeId: pick.treeId }))
  const command = {
    command: 'merge-tree',
    flags: ['--write-tree', '-z', '--name-only', '--no-messages', '--allow-unrelated-histories'],
    revisions: [ours, theirs],
  }
  const result = await runGit(path, command, { signal })
  const [treeId = '', ...paths] = result.stdout.toString('utf8').split('\0')
  if (result.code === 0) return { treeId }
  if (result.code === 1) return { treeId, paths: [...new Set(paths.filter(Boolean))] }
  throw gitFailure(command, result)
}
