import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { conflict } from '@switchyard/domain'
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

/** How often it is picked anew because the branch moved meanwhile. */
const retriesMax = 20

/**
 * Repeats a commit's change on a branch: a three-way merge without a work tree, with the first parent of
 * the commit as base. When the branch moves meanwhile, the merge is made again.
 *
 * @throws DomainError conflict when the branch vanishes, or keeps moving
 */
export async function pickCommit(repository: OpenRepository, request: PickRequest): Promise<PickResult> {
  const { branch } = request
  const objects = new NewObjects(repository.path)
  const tip = await findCommit(repository, request.tip)
  const first = tip && (await tryPick(repository, request, objects, tip))
  if (first) return first
  return repository.engine.branchTurns.take(repository.path, branch, repository, async () => {
    for (let retry = 0; retry < retriesMax; retry += 1) {
      const now = await findCommit(repository, branchRef(branch))
      if (!now) break
      const result = await tryPick(repository, request, objects, now)
      if (result) return result
    }
    throw conflict(`The branch ${branch} was changed meanwhile. Please refresh and try again`)
  })
}

/** @returns null when the branch stands elsewhere */
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
  /** Undefined: it merged cleanly. */
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
  // Without its parent, in a shallow history say, git has to say what is wrong.
  if (parent || parentId === undefined) {
    const trees = { base: parent?.treeId ?? null, picked: pick.treeId, ours: tip.treeId }
    const tree = await pickPlainly(objectReader(repository), trees)
    if (tree) return { treeId: await addTree(objects, tree) }
  }
  return mergeByGit(repository, objects, tip, pick)
}

/**
 * `git merge-tree` takes its base from the history of the two sides. So the branch's tree is given a
 * history in which it follows the parent of the picked commit: a commit that nothing ever refers to.
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
 * An empty repository. A merge needs objects alone, and with those of another repository it is made here:
 * whoever could write the configuration there could name programs that merge files.
 */
const neutral = dirname(createRequire(import.meta.url).resolve('@switchyard/git-storage/neutral/HEAD'))

/** Where objects lie, and which commits of a shallow history have no parents. */
const objectsOf = (path: string) => ({
  GIT_OBJECT_DIRECTORY: join(path, 'objects'),
  GIT_SHALLOW_FILE: join(path, 'shallow'),
})

/** A file in the way of a folder is called after the side it comes from; callers know it by its own name. */
function conflictedPaths(paths: string[], sides: string[]): string[] {
  const withoutSide = (path: string) => {
    const found = /~([0-9a-f]{40})(?:_\d+)?$/.exec(path)
    return found && sides.includes(found[1] ?? '') ? path.slice(0, found.index) : path
  }
  return [...new Set(paths.filter(Boolean).map(withoutSide))].map((path) =>
    nameOf(Buffer.from(path, 'latin1')),
  )
}
