import { invalid } from '@switchyard/domain'
import {
  branchRef,
  type Commit,
  formatCommitObject,
  nameOf,
  parseCommitObject,
  type Signature,
} from '@switchyard/domain/commit'
import { diffBetween } from '../diffs/diff-between.js'
import type { DiffEntry } from '../diffs/parse-diff.js'
import { neutralRepository } from '../neutral-repository.js'
import { NewObjects } from '../objects/new-objects.js'
import { migrateObjects, type Quarantine, withQuarantine } from '../objects/quarantine.js'
import { emptyTree, gitFailure, runGit } from '../processes/git-process.js'
import { isBranchLocked, withBranchLock } from '../references/branch-lock.js'
import { moveBranch } from '../references/move-refs.js'
import type { RecordIntent, Repository } from '../repository.js'
import { findCommit } from './read-commits.js'

export interface PickRequest {
  branch: string
  /** The commit that the branch points to. */
  tip: string
  /** The commit whose change against its first parent is applied to the branch. */
  pick: Commit
  /** Whether the change is undone instead of repeated. */
  isRevert: boolean
  author: Signature
  committer: Signature
  message: string
  /** Whether the pick is only checked, so that nothing is stored. */
  dryRun: boolean
  recordIntent?: RecordIntent
}

/**
 * The result of a pick. `empty`: the branch would not change. `possible`: a dry run found no conflict, and
 * the diffs are the changes of the pick.
 */
export type PickResult =
  | { outcome: 'picked'; commit: Commit }
  | { outcome: 'possible'; diffs: DiffEntry[] }
  | { outcome: 'empty' }
  | { outcome: 'conflict'; paths: string[] }

/**
 * Applies the change of a commit to a branch, or undoes it there, by a three-way merge without a work tree.
 * The first parent of the commit is the base. To undo the change, the commit is the base and its first parent
 * the other side. When the branch moves during the merge, the merge is repeated.
 *
 * @throws DomainError conflict when the branch is deleted or keeps moving
 */
export async function pickCommit(repository: Repository, request: PickRequest): Promise<PickResult> {
  const { branch, dryRun } = request
  const tip = await findCommit(repository, request.tip)
  if (tip && dryRun) {
    return withQuarantine(repository, (quarantine) => previewPick(repository, request, quarantine, tip))
  }
  const isFree = !isBranchLocked(repository, branch)
  const first = isFree && tip && (await tryPick(repository, request, tip))
  if (first) return first
  return withBranchLock(repository, branch, async () => {
    const now = await findCommit(repository, branchRef(branch))
    return now ? tryPick(repository, request, now) : undefined
  })
}

type Unpicked = Exclude<PickResult, { outcome: 'picked' }>

async function previewPick(
  repository: Repository,
  request: PickRequest,
  quarantine: Quarantine,
  tip: Commit,
): Promise<Unpicked> {
  const merged = await mergeTrees(repository, quarantine, tip, request)
  if (merged.outcome !== 'merged') return merged
  await quarantine.objects.store()
  const where = { runsIn: neutralRepository, variables: quarantine.variables }
  return { outcome: 'possible', diffs: await diffBetween(repository, tip.treeId, merged.treeId, where) }
}

/**
 * Tries the pick once.
 *
 * @returns null when the branch no longer points to `tip`
 */
async function tryPick(
  repository: Repository,
  request: PickRequest,
  tip: Commit,
): Promise<PickResult | null> {
  const { branch, author, committer, message, recordIntent } = request
  const objects = new NewObjects(repository.path, repository.takeSpace)
  const merged = await withQuarantine(repository, async (quarantine) => {
    const found = await mergeTrees(repository, quarantine, tip, request)
    if (found.outcome === 'merged') await migrateObjects(repository, quarantine)
    return found
  })
  if (merged.outcome !== 'merged') return merged
  const made = { treeId: merged.treeId, parentIds: [tip.id], author, committer, message }
  const content = formatCommitObject(made)
  const id = await objects.add('commit', content)
  await objects.store()
  repository.signal?.throwIfAborted()
  if (!(await moveBranch(repository, { branch, from: tip.id, to: id, recordIntent }))) return null
  return { outcome: 'picked', commit: parseCommitObject(id, content) }
}

type Merged = { outcome: 'merged'; treeId: string } | Exclude<Unpicked, { outcome: 'possible' }>

async function mergeTrees(
  repository: Repository,
  quarantine: Quarantine,
  tip: Commit,
  sides: Pick<PickRequest, 'pick' | 'isRevert'>,
): Promise<Merged> {
  const { treeId, paths } = await findTree(repository, quarantine, tip, sides)
  if (paths) return { outcome: 'conflict', paths }
  return treeId === tip.treeId ? { outcome: 'empty' } : { outcome: 'merged', treeId }
}

interface FoundTree {
  treeId: string
  /** Conflicting paths; undefined when the merge has no conflict. */
  paths?: string[]
}

async function findTree(
  repository: Repository,
  quarantine: Quarantine,
  tip: Commit,
  { pick, isRevert }: Pick<PickRequest, 'pick' | 'isRevert'>,
): Promise<FoundTree> {
  const [parentId] = pick.parentIds
  const parent = isRevert && parentId !== undefined ? await findCommit(repository, parentId) : null
  if (isRevert && parentId !== undefined && !parent)
    throw invalid('The commit cannot be reverted: the repository does not have its parent')
  const sides = isRevert
    ? { baseIds: [pick.id], picked: parent?.treeId ?? emptyTree }
    : { baseIds: pick.parentIds.slice(0, 1), picked: pick.treeId }
  return mergeByGit(repository, quarantine, tip, sides)
}

interface Sides {
  /** The commit whose tree is the base; empty: the base is the empty tree. */
  baseIds: string[]
  /** Tree of the side that is merged into the branch. */
  picked: string
}

/**
 * Merges with git. `git merge-tree` finds the base in the history of both sides. So two temporary commits
 * hold the trees of the sides and have the base as their parent. No reference ever points to the temporary
 * commits.
 */
async function mergeByGit(
  repository: Repository,
  { objects, variables }: Quarantine,
  tip: Commit,
  { baseIds, picked }: Sides,
): Promise<FoundTree> {
  const nobody = { name: 'Switchyard', email: '', seconds: 0, offsetMinutes: 0 }
  const side = { parentIds: baseIds, author: nobody, committer: nobody, message: '' }
  const ours = await objects.add('commit', formatCommitObject({ ...side, treeId: tip.treeId }))
  const theirs = await objects.add('commit', formatCommitObject({ ...side, treeId: picked }))
  await objects.store()
  const command = {
    command: 'merge-tree',
    flags: ['--write-tree', '-z', '--name-only', '--no-messages', '--allow-unrelated-histories'],
    revisions: [ours, theirs],
  }
  const result = await runGit(repository, command, { runsIn: neutralRepository, variables })
  const [treeId = '', ...paths] = result.stdout.toString('latin1').split('\0')
  if (result.code === 0) return { treeId }
  if (result.code === 1) return { treeId, paths: conflictedPaths(paths, [ours, theirs]) }
  throw gitFailure(command, result)
}

/**
 * Removes the suffix of conflicting paths: git appends `~` and the id of a side to the path of a file that
 * conflicts with a folder.
 */
function conflictedPaths(paths: string[], sides: string[]): string[] {
  const withoutSide = (path: string) => {
    const found = /~([0-9a-f]{40})(?:_\d+)?$/.exec(path)
    return found && sides.includes(found[1] ?? '') ? path.slice(0, found.index) : path
  }
  return [...new Set(paths.filter(Boolean).map(withoutSide))].map((path) =>
    nameOf(Buffer.from(path, 'latin1')),
  )
}
