import { statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { insufficientStorage, invalid } from '@switchyard/domain'
import { zeroId } from '@switchyard/domain/access'
import { branchRef } from '@switchyard/domain/commit'
import { syncFolder } from '../objects/durable-files.js'
import { updateRefChild } from '../processes/child-kinds.js'
import { ChildEnded } from '../processes/git-child.js'
import { runGitOk } from '../processes/git-process.js'
import type { RecordIntent, Repository } from '../repository.js'
import { findRefs } from './find-refs.js'
import { keptPrefix } from './list-refs.js'
import { removeStaleLock } from './stale-locks.js'

const timeoutMs = 60_000
/** Free space below which a disk counts as full. */
const fullBytes = 1024 * 1024

export interface BranchMove {
  branch: string
  /** The commit that the branch must point to; null: the branch must not exist. */
  from: string | null
  to: string
  recordIntent?: RecordIntent
}

export interface ReferenceMove {
  /** Full name: `refs/tags/v1`. */
  ref: string
  /** The object that the reference must point to; null: the reference must not exist. */
  from: string | null
  /** Null: the reference is deleted. */
  to: string | null
  recordIntent?: RecordIntent
}

/**
 * Moves a branch from one commit to another. The move is durable when the promise resolves.
 *
 * @returns false, with nothing changed, when the branch does not point to `from`
 * @throws as {@link moveReference}
 */
export const moveBranch = (repository: Repository, { branch, ...move }: BranchMove): Promise<boolean> =>
  moveReference(repository, { ref: branchRef(branch), ...move })

/**
 * Moves, creates or deletes a branch or a tag. The change is durable when the promise resolves.
 *
 * @returns false, with nothing changed, when the reference does not point to `from`
 * @throws DomainError invalid when the name conflicts with another branch or tag; unavailable when git
 *   refuses for another reason, and when the repository has been moved to another storage;
 *   insufficient-storage when the disk is full; what `recordIntent` throws
 */
export async function moveReference(repository: Repository, asked: ReferenceMove): Promise<boolean> {
  const { ref, from, to, recordIntent } = asked
  const forget = await recordIntent?.([{ ref, before: from ?? zeroId, after: to ?? zeroId }])
  return repository.withoutMove(() => moveWhileInStorage(repository, asked, forget))
}

async function moveWhileInStorage(
  repository: Repository,
  asked: ReferenceMove,
  forget = async () => {},
): Promise<boolean> {
  const { ref, from, to } = asked
  const move = () => updateRef(repository, `update ${ref}\0${to ?? zeroId}\0${from ?? zeroId}\0`)
  try {
    await move()
  } catch (error) {
    const state = await stateAfter(repository, asked, error)
    const isRefused = messageOfGit(error) !== '' && (state === 'changed' || isNameTaken(error))
    if (isRefused) await forget()
    if (state === 'changed') return false
    if (state === 'unchanged') {
      await refuseKnown(repository.path, error)
      if (!(await removeStaleLock(join(repository.path, `${ref}.lock`)))) throw error
      await move()
    }
  }
  await syncFolders(repository.path, ref)
  return true
}

/** Returns the state of a reference after a failed move: moved, unchanged, or changed by another request. */
async function stateAfter(
  repository: Repository,
  { ref, from, to }: ReferenceMove,
  error: unknown,
): Promise<'moved' | 'unchanged' | 'changed'> {
  const now = (await findRefs({ ...repository, signal: undefined }, [ref])).get(ref) ?? null
  // Without a message of git, its process may have ended after it moved the reference and before it
  // answered. With a message, an existing new reference was created by another request, which notifies
  // webhooks.
  if (now === to && (from !== null || messageOfGit(error) === '')) return 'moved'
  return now === from ? 'unchanged' : 'changed'
}

/** Time limit for setting HEAD, shorter than a transaction of the database. */
const headMs = 3_000

/**
 * Sets HEAD, the branch that a clone checks out. A transaction of the database waits for it, so it takes no
 * slot and little time, and it continues when the client disconnects.
 */
export async function pointHeadTo({ path }: Repository, branch: string): Promise<void> {
  const command = { command: 'symbolic-ref', paths: ['HEAD', branchRef(branch)] }
  await runGitOk(path, command, { timeoutMs: headMs })
}

/** Creates a hidden reference to a commit, so that git keeps the commit when no branch contains it. */
export async function keepCommit(repository: Repository, id: string): Promise<void> {
  await repository.withoutMove(() => updateRef(repository, `update ${keptPrefix}${id}\0${id}\0\0`))
}

/**
 * Updates a reference. Ignores the signal of the request, because the caller must know whether the reference
 * moved.
 */
async function updateRef({ path, sender, engine }: Repository, command: string): Promise<void> {
  const question = { input: `start\0${command}commit\0`, answerBytesMax: 1024, timeoutMs }
  await engine.children.ask({ path, sender }, updateRefChild, question)
}

/** Returns the message of git about a failed update; empty without one. */
function messageOfGit(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof ChildEnded ? cause.stderr : ''
}

/**
 * Returns whether the name conflicts with a folder. Branches are files in folders, so a branch cannot have
 * the name of a folder that another branch needs.
 */
const isNameTaken = (error: unknown): boolean =>
  /exists; cannot create|there (?:is|are) still (?:refs|logs)|non-empty directory/.test(messageOfGit(error))

/** Refuses a name that conflicts with a folder, and a change on a full disk. */
async function refuseKnown(path: string, cause: unknown): Promise<void> {
  if (isNameTaken(cause))
    throw invalid('A branch above or below this name exists. Branch name is invalid', { cause })
  // git reports only that it could not write.
  if (!/(?:couldn't|unable to) write/.test(messageOfGit(cause))) return
  const { bsize, bavail } = await statfs(path)
  if (bsize * bavail < fullBytes) throw insufficientStorage('a disk of the server is full', { cause })
}

/**
 * Makes the name of a reference durable; git has flushed its content. A missing folder means that the
 * reference was packed.
 */
async function syncFolders(path: string, ref: string): Promise<void> {
  const folders: string[] = []
  for (let folder = dirname(ref); folder !== 'refs'; folder = dirname(folder)) folders.push(folder)
  await Promise.all(folders.map((folder) => syncFolder(join(path, folder)).catch(() => undefined)))
}
