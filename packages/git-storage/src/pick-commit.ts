import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import {
  type Commit,
  formatCommitObject,
  nameOf,
  parseCommitObject,
  type Signature,
} from '@switchyard/domain/commit'
import { addTree } from './edit-tree.js'
import { gitFailure, runGit } from './git-process.js'
import { objectReader } from './object-reader.js'
import type { OpenRepository } from './open-repository.js'
import { pickPlainly } from './pick-plainly.js'
import { findCommit } from './read-commits.js'
import { branchRef } from './refs.js'
import { moveBranch } from './writing/move-refs.js'
import { NewObjects } from './writing/new-objects.js'

export interface PickRequest {
  branch: string
  /** The commit that the branch points to. */
  tip: string
  /** The commit whose change against its first parent is repeated on the branch. */
  pick: Commit
  committer: Signature
  message: string
  /** Only checks whether the pick is possible, and stores nothing. */
  dryRun: boolean
}

/** `empty`: the branch contains the change already. `possible`: a dry run found no conflict. */
export type PickResult =
  | { outcome: 'picked'; commit: Commit }
  | { outcome: 'possible' }
  | { outcome: 'empty' }
  | { outcome: 'conflict'; paths: string[] }

/**
 * Applies the change of a commit to a branch: a three-way merge without a work tree, with the first parent of the commit as
 * the base. When the branch moves during the merge, the merge is repeated.
 *
 * @throws DomainError conflict when the branch is deleted or keeps moving
 */
export async function pickCommit(repository: OpenRepository, request: PickRequest): Promise<PickResult> {
  const { branch } = request
  const objects = new NewObjects(repository.path)
  const tip = await findCommit(repository, request.tip)
  const first = tip && (await tryPick(repository, request, objects, tip))
  if (first) return first
  return repository.engine.branchTurns.retry(repository.path, branch, repository, async () => {
    const now = await findCommit(repository, branchRef(branch))
    return now ? tryPick(repository, request, objects, now) : undefined
  })
}

/** @returns null when the branch no longer points to `tip` */
async function tryPick(
  repository: OpenRepository,
  { branch, pick, committer, message, dryRun }: PickRequest,
  objects: NewObjects,
  tip: Commit,
): Promise<PickResult | null> {
  const merged = await mergeTrees(repository, objects, tip, pick)
  if (merged.paths) return { outcome: 'conflict', paths: merged.paths }
  if (merged.treeId === tip.treeId) return { outcome: 'empty' }
  if (dryRun) return { outcome: 'possible' }
  const made = { treeId: merged.treeId, parentIds: [tip.id], author: pick.author, committer, message }
  const content = formatCommitObject(made)
  const id = await objects.add('commit', content)
  await objects.store()
  repository.signal?.throwIfAborted()
  if (!(await moveBranch(repository, { branch, from: tip.id, to: id }))) return null
  return { outcome: 'picked', commit: parseCommitObject(id, content) }
}

interface MergedTrees {
  treeId: string
  /** Conflicting paths; undefined when the merge has no conflict. */
  paths?: string[]
}

async function mergeTrees(
  repository: OpenRepository,
  objects: NewObjects,
  tip: Commit,
  pick: Commit,
): Promise<MergedTrees> {
  const [parentId] = pick.parentIds
  const parent = parentId === undefined ? null : await findCommit(repository, parentId)
  // When the parent is missing, as in a shallow history, git reports the error.
  if (parent || parentId === undefined) {
    const trees = { base: parent?.treeId ?? null, picked: pick.treeId, ours: tip.treeId }
    const tree = await pickPlainly(objectReader(repository), trees)
    if (tree) return { treeId: await addTree(objects, tree) }
  }
  return mergeByGit(repository, objects, tip, pick)
}

/**
 * `git merge-tree` finds the base in the history of both sides. So a temporary commit holds the branch's tree and has the
 * parent of the picked commit as its parent. No reference ever points to the temporary commit.
 */
async function mergeByGit(
  { path, signal }: OpenRepository,
  objects: NewObjects,
  tip: Commit,
  pick: Commit,
): Promise<MergedTrees> {
  const nobody = { name: 'Switchyard', email: '', seconds: 0, offsetMinutes: 0 }
  const parentIds = pick.parentIds.slice(0, 1)
  const side = { treeId: tip.treeId, parentIds, author: nobody, committer: nobody, message: '' }
  const ours = await objects.add('commit', formatCommitObject(side))
  const theirs =
    pick.parentIds.length < 2
      ? pick.id
      : await objects.add('commit', formatCommitObject({ ...side, treeId: pick.treeId }))
  await objects.store()
  const command = {
    command: 'merge-tree',
    flags: ['--write-tree', '-z', '--name-only', '--no-messages', '--allow-unrelated-histories'],
    revisions: [ours, theirs],
  }
  const result = await runGit(neutral, command, { signal, variables: objectsOf(path) })
  const [treeId = '', ...paths] = result.stdout.toString('latin1').split('\0')
  if (result.code === 0) return { treeId }
  if (result.code === 1) return { treeId, paths: conflictedPaths(paths, [ours, theirs]) }
  throw gitFailure(command, result)
}

/**
 * An empty repository in which merges run with the objects of the other repository, because the configuration of that
 * repository could name programs that merge files.
 */
const neutral = dirname(createRequire(import.meta.url).resolve('@switchyard/git-storage/neutral/HEAD'))

/** Variables that make git use the objects and the shallow file of a repository. */
const objectsOf = (path: string) => ({
  GIT_OBJECT_DIRECTORY: join(path, 'objects'),
  GIT_SHALLOW_FILE: join(path, 'shallow'),
})

/** git appends `~` and the id of a side to the path of a file that conflicts with a folder; this removes the suffix. */
function conflictedPaths(paths: string[], sides: string[]): string[] {
  const withoutSide = (path: string) => {
    const found = /~([0-9a-f]{40})(?:_\d+)?$/.exec(path)
    return found && sides.includes(found[1] ?? '') ? path.slice(0, found.index) : path
  }
  return [...new Set(paths.filter(Boolean).map(withoutSide))].map((path) =>
    nameOf(Buffer.from(path, 'latin1')),
  )
}
