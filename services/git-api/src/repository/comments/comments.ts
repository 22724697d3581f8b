import type { Database, Rows } from '@switchyard/db'
import { invalid } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { type Commit, lineCountOf } from '@switchyard/domain/commit'
import { readDiff } from '@switchyard/git-storage/diffs'
import { readFile } from '@switchyard/git-storage/files'
import { keepCommit } from '@switchyard/git-storage/references'
import type { Repository } from '@switchyard/git-storage/repository'
import type { Call } from '@switchyard/service-kit/http'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import type { OutgoingMessages } from '../../outgoing-messages.js'
import { noteHook } from '../../shapes/hooks.js'
import { getCommit, getCommitId } from '../commits/commits.js'
import { type CommentWithAuthor, createCommitComment, listCommitComments } from './store.js'

export interface CommentDependencies extends ProjectResourceDependencies {
  messages: OutgoingMessages
}

/** @throws DomainError not-found for an unknown commit; too-large */
export async function listComments(
  database: Database,
  { project, repository }: ProjectCall,
  revision: string,
  rows: Rows,
  call: Pick<Call, 'holdAnswer'>,
) {
  const sha = await getCommitId(repository, revision)
  return listCommitComments(database, { projectId: project.id, sha }, rows, call)
}

interface AddCommentCommand {
  /** Hash, branch or tag; the comment stays with the commit to which it resolves now. */
  revision: string
  note: string
  /** The line of the comment. Where the commit has no such line, the comment is about the whole commit. */
  position?: Position | undefined
}

export interface Position {
  path: string
  line: number
  /** `new`: a line of the file in the commit; `old`: a line of the file in its first parent. */
  lineType: 'new' | 'old'
}

/**
 * Adds a comment to a commit. From then on, git keeps the commit even when no branch contains it any more.
 *
 * @throws DomainError not-found for an unknown commit; invalid for an empty note
 */
export async function addComment(
  { database, messages }: CommentDependencies,
  { project, repository, caller }: ProjectCall<Caller>,
  { revision, note, position }: AddCommentCommand,
  { baseUrl }: Pick<Call, 'baseUrl'>,
): Promise<CommentWithAuthor> {
  requireNote(note)
  const commit = await getCommit(repository, revision)
  const exists = position !== undefined && (await hasLine(repository, commit, position))
  const given = { commit, note, position: exists ? position : null, discussion: null }
  return storeComment({ database, messages }, { project, repository, caller }, given, baseUrl)
}

/** @throws DomainError invalid for an empty text */
export function requireNote(note: string): void {
  if (note.trim() === '') throw invalid("400 Bad request - Note can't be blank")
}

interface CheckedComment {
  commit: Commit
  note: string
  /** A line that exists; null: the comment is about the whole commit. */
  position: Position | null
  discussion: Parameters<typeof createCommitComment>[2]
}

/** Keeps the commit in the repository, stores a comment on it, and announces the comment. */
export async function storeComment(
  { database, messages }: Pick<CommentDependencies, 'database' | 'messages'>,
  { project, repository, caller }: Pick<ProjectCall<Caller>, 'project' | 'repository' | 'caller'>,
  { commit, note, position, discussion }: CheckedComment,
  baseUrl: string,
): Promise<CommentWithAuthor> {
  await keepCommit(repository, commit.id)
  const given = {
    projectId: project.id,
    sha: commit.id,
    note,
    author: caller.user,
    path: position?.path ?? null,
    line: position?.line ?? null,
    lineType: position?.lineType ?? null,
  }
  const comment = await createCommitComment(database, given, discussion, (stored) =>
    noteHook(stored, { project, commit, user: caller.user, baseUrl }),
  )
  messages.announce({ event: 'note', project_id: project.id, sha: commit.id, id: Number(comment.id) })
  return comment
}

export async function hasLine(repository: Repository, commit: Commit, { path, line, lineType }: Position) {
  if (line < 1) return false
  const content =
    lineType === 'new'
      ? await readFile(repository, commit.id, path)
      : await readOldFile(repository, commit, path)
  return content !== null && line <= (lineCountOf(content) ?? 0)
}

/** Reads the file before the commit; a renamed file is found by both its old and its new path. */
async function readOldFile(repository: Repository, { id, parentIds }: Commit, path: string) {
  const [parent] = parentIds
  if (parent === undefined) return null
  const content = await readFile(repository, parent, path)
  if (content) return content
  const entries = await readDiff(repository, id)
  const renamed = entries.find((entry) => entry.renamedFile && entry.newPath === path)
  return renamed ? readFile(repository, parent, renamed.oldPath) : null
}
