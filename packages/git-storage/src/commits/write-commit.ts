import { conflict, excerpt } from '@switchyard/domain'
import {
  branchRef,
  type Commit,
  entryAt,
  foldersOf,
  formatCommitObject,
  parseCommitObject,
  planTreeEdits,
  type Signature,
  type TreeEdit,
  type TreeEntry,
  type TreeFolder,
} from '@switchyard/domain/commit'
import { diffBetween } from '../diffs/diff-between.js'
import type { DiffEntry } from '../diffs/parse-diff.js'
import { neutralRepository } from '../neutral-repository.js'
import { NewObjects } from '../objects/new-objects.js'
import { withQuarantine } from '../objects/quarantine.js'
import { emptyTree } from '../processes/git-process.js'
import { isBranchLocked, movedMeanwhile, withBranchLock } from '../references/branch-lock.js'
import { moveBranch } from '../references/move-refs.js'
import type { RecordIntent, Repository } from '../repository.js'
import { checkSettingsFiles } from './check-settings-files.js'
import { addTree, loadTree } from './edit-tree.js'
import { findCommit } from './read-commits.js'
import { findLastCommitOf } from './read-last-commit.js'

export interface CommitRequest {
  branch: string
  /** The commit that the branch points to; null: the branch is created. */
  tip: string | null
  /**
   * First parent; null: a root commit. It differs from `tip` only when the branch is created or force-moved.
   */
  parent: string | null
  edits: TreeEdit[]
  author: Signature
  committer: Signature
  message: string
  recordIntent?: RecordIntent
}

/**
 * Creates a commit and moves the branch to it. Every object is durable before the branch moves. When the
 * branch has moved in the meantime, the edits are applied to its new tip, unless a path that they touch has
 * changed.
 *
 * @throws DomainError invalid for an edit that does not fit the tree; conflict when the branch or a path has
 *   changed
 */
export async function writeCommit(repository: Repository, request: CommitRequest): Promise<Commit> {
  const { branch, tip, parent } = request
  const objects = new NewObjects(repository.path, repository.takeSpace)
  const isOrdinary = tip !== null && parent === tip
  if (!isOrdinary || !isBranchLocked(repository, branch)) {
    const first = await tryWrite(repository, request, objects, { tip, parent })
    if (first) return first
    // Creating or force-moving a branch is not repeated after another change of the branch.
    if (parent !== tip) throw movedMeanwhile(branch)
  }
  return withBranchLock(repository, branch, async () => {
    const now = await findCommit(repository, branchRef(branch))
    return now ? tryWrite(repository, request, objects, { tip: now.id, parent: now.id }) : undefined
  })
}

/**
 * Returns the changes of a commit compared with its first parent. No object is kept, and no reference moves.
 *
 * @throws DomainError invalid for an edit that does not fit the tree; too-large when git cannot compare the
 * trees
 */
export const previewCommit = (
  repository: Repository,
  { parent, edits }: Pick<CommitRequest, 'parent' | 'edits'>,
): Promise<DiffEntry[]> =>
  withQuarantine(repository, async ({ objects, variables }) => {
    const root = await loadBase(repository, parent, edits)
    const before = root.id ?? emptyTree
    await plan(repository, root, parent, edits)
    await checkSettingsFiles(repository, root, edits)
    const after = await addTree(objects, root)
    await objects.store()
    return diffBetween(repository, before, after, { runsIn: neutralRepository, variables })
  })

/**
 * Tries to write the commit once.
 *
 * @returns null when the branch no longer points to `tip`; the new objects are stored then, and the branch is
 * unchanged
 */
async function tryWrite(
  repository: Repository,
  request: CommitRequest,
  objects: NewObjects,
  { tip, parent }: Pick<CommitRequest, 'tip' | 'parent'>,
): Promise<Commit | null> {
  const { branch, edits, recordIntent } = request
  const root = await loadBase(repository, parent, edits)
  if (parent !== request.parent) refuseChanged(await loadBase(repository, request.parent, edits), root, edits)
  await plan(repository, root, parent, edits)
  await checkSettingsFiles(repository, root, edits)
  const commit = await store(objects, root, { ...request, parent })
  repository.signal?.throwIfAborted()
  return (await moveBranch(repository, { branch, from: tip, to: commit.id, recordIntent })) ? commit : null
}

async function loadBase(
  repository: Repository,
  parent: string | null,
  edits: TreeEdit[],
): Promise<TreeFolder> {
  const commit = parent === null ? null : await findCommit(repository, parent)
  return loadTree(repository, commit?.treeId ?? null, foldersOf(edits))
}

async function plan(
  repository: Repository,
  root: TreeFolder,
  parent: string | null,
  edits: TreeEdit[],
): Promise<void> {
  const lastCommitIds = new Map<string, string>()
  for (const { lastCommitId, previousFilePath } of edits) {
    if (lastCommitId === null || parent === null || lastCommitIds.has(previousFilePath)) continue
    const last = await findLastCommitOf(repository, parent, previousFilePath.replace(/^\/+/, ''))
    if (last !== null) lastCommitIds.set(previousFilePath, last)
  }
  planTreeEdits(root, edits, { lastCommitIds })
}

type StoreRequest = Pick<CommitRequest, 'parent' | 'author' | 'committer' | 'message'>

async function store(objects: NewObjects, root: TreeFolder, request: StoreRequest): Promise<Commit> {
  const { author, committer, message } = request
  const parentIds = request.parent === null ? [] : [request.parent]
  const treeId = await addTree(objects, root)
  const content = formatCommitObject({ treeId, parentIds, author, committer, message })
  const id = await objects.add('commit', content)
  await objects.store()
  // Signatures are stored without some characters, so the stored form is returned.
  return parseCommitObject(id, content)
}

/**
 * Refuses edits of a path that has changed.
 *
 * @throws DomainError conflict when a path that the edits touch differs between the trees
 */
function refuseChanged(before: TreeFolder, now: TreeFolder, edits: readonly TreeEdit[]): void {
  for (const [index, edit] of edits.entries()) {
    for (const path of [edit.path, edit.previousPath]) {
      if (identity(entryAt(before, path)) === identity(entryAt(now, path))) continue
      throw conflict(`${excerpt(edit.filePath)} was changed meanwhile. Please refresh and try again`, {
        extra: { action_index: index, file_path: excerpt(edit.filePath) },
      })
    }
  }
}

function identity(entry: TreeEntry | null): string | null {
  if (entry === null) return null
  return entry.kind === 'file' ? `${entry.mode} ${entry.blob}` : `folder ${entry.id}`
}
