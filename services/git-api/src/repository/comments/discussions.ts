import type { AuditAuthor, Database, Rows } from '@switchyard/db'
import { forbidden, invalid, notFound, type Precondition } from '@switchyard/domain'
import { accessLevels, type Caller } from '@switchyard/domain/access'
import type { Commit } from '@switchyard/domain/commit'
import type { Call } from '@switchyard/service-kit/http'
import type { ProjectCall } from '../../guards.js'
import { noteHook } from '../../shapes/hooks.js'
import { getCommit } from '../commits/commits.js'
import { type CommentDependencies, hasLine, type Position, requireNote, storeComment } from './comments.js'
import {
  type CommentWithAuthor,
  countCommentsOfDiscussion,
  deleteCommitComment,
  discussionOf,
  findCommentOfDiscussion,
  findFirstComment,
  listCommentsOfDiscussion,
  listCommitDiscussions,
  updateCommitComment,
} from './store.js'

/** The discussion that a request names. */
interface DiscussionName {
  revision: string
  /** Null: the given id is not a discussion id. */
  discussion: bigint | null
}

interface NoteName extends DiscussionName {
  id: number
}

/**
 * Returns the discussions of a commit, and the commit.
 *
 * @throws DomainError not-found for an unknown commit; too-large
 */
export async function listDiscussions(
  database: Database,
  { project, repository }: ProjectCall,
  revision: string,
  rows: Rows,
  call: Pick<Call, 'holdAnswer'>,
) {
  const commit = await getCommit(repository, revision)
  const found = await listCommitDiscussions(database, { projectId: project.id, sha: commit.id }, rows, call)
  return { commit, ...found }
}

/** @throws DomainError not-found for an unknown commit or discussion; too-large */
export async function getDiscussion(
  database: Database,
  access: ProjectCall,
  name: DiscussionName,
  call: Pick<Call, 'holdAnswer'>,
): Promise<{ commit: Commit; notes: CommentWithAuthor[] }> {
  const { commit, where, discussion } = await findNamed(access, name)
  const notes = await listCommentsOfDiscussion(database, where, discussion, call)
  if (notes.length === 0) throw notFound('Discussion')
  return { commit, notes }
}

/** @throws DomainError not-found for an unknown commit, or for an id that is not a discussion id */
async function findNamed({ project, repository }: ProjectCall, { revision, discussion }: DiscussionName) {
  const commit = await getCommit(repository, revision)
  if (discussion === null) throw notFound('Discussion')
  return { commit, where: { projectId: project.id, sha: commit.id }, discussion }
}

/**
 * Returns one page of the notes of a discussion, oldest first, and the number of all.
 *
 * @throws DomainError not-found for an unknown commit or discussion; too-large
 */
export async function listNotes(
  database: Database,
  access: ProjectCall,
  name: DiscussionName,
  rows: Rows,
  call: Pick<Call, 'holdAnswer'>,
): Promise<{ commit: Commit; notes: CommentWithAuthor[]; total: number }> {
  const { commit, where, discussion } = await findNamed(access, name)
  const total = await countCommentsOfDiscussion(database, where, discussion)
  if (total === 0) throw notFound('Discussion')
  return { commit, notes: await listCommentsOfDiscussion(database, where, discussion, call, rows), total }
}

/** @throws DomainError not-found for an unknown commit, discussion or note */
export async function getNote(database: Database, access: ProjectCall, { id, ...name }: NoteName) {
  const { commit, where, discussion } = await findNamed(access, name)
  const note = await findCommentOfDiscussion(database, where, discussion, id)
  if (note) return { commit, note }
  const first = await findFirstComment(database, where, discussion)
  throw notFound(first ? 'Note' : 'Discussion')
}

/** The commits of a position. Unset: the commit itself and its first parent. */
export interface PositionCommits {
  base_sha?: string | undefined
  start_sha?: string | undefined
  head_sha?: string | undefined
}

interface BeginDiscussionCommand {
  revision: string
  note: string
  position: (Position & { commits: PositionCommits }) | undefined
}

/**
 * Begins a discussion. Its position must exist, unlike the position of a comment.
 *
 * @throws DomainError not-found for an unknown commit; invalid
 */
export async function beginDiscussion(
  deps: CommentDependencies,
  access: ProjectCall<Caller>,
  { revision, note, position }: BeginDiscussionCommand,
  { baseUrl }: Pick<Call, 'baseUrl'>,
) {
  requireNote(note)
  const commit = await getCommit(access.repository, revision)
  if (position) {
    requireCommits(position.commits, commit)
    const exists = await hasLine(access.repository, commit, position)
    if (!exists) throw invalid({ position: ['is no line of the commit'] })
  }
  const given = { commit, note, position: position ?? null, discussion: 'new' as const }
  return { commit, note: await storeComment(deps, access, given, baseUrl) }
}

function requireCommits({ base_sha, start_sha, head_sha }: PositionCommits, { id, parentIds }: Commit): void {
  const [parent] = parentIds
  const names = (given: string | undefined, commit: string | undefined) =>
    given === undefined || commit?.startsWith(given.toLowerCase()) === true
  if (names(head_sha, id) && names(base_sha, parent) && names(start_sha, parent)) return
  throw invalid({ position: ['is not of this commit and its first parent'] })
}

/**
 * Adds a note to a discussion, at the position of its first note.
 *
 * @throws DomainError not-found for an unknown commit or discussion; invalid for an empty note and a full
 *   discussion
 */
export async function addReply(
  deps: CommentDependencies,
  access: ProjectCall<Caller>,
  { note, ...name }: DiscussionName & { note: string },
  { baseUrl }: Pick<Call, 'baseUrl'>,
) {
  requireNote(note)
  const { commit, where, discussion } = await findNamed(access, name)
  const first = await findFirstComment(deps.database, where, discussion)
  if (!first) throw notFound('Discussion')
  const given = { commit, note, position: positionOf(first), discussion: discussionOf(first) }
  return { commit, note: await storeComment(deps, access, given, baseUrl) }
}

const positionOf = ({ path, line, lineType }: Omit<CommentWithAuthor, 'note' | 'author'>): Position | null =>
  path === null || line === null ? null : { path, line, lineType: lineType === 'old' ? 'old' : 'new' }

/**
 * Changes the text of a note.
 *
 * @param author the caller, for the audit log
 * @throws DomainError not-found; invalid for an empty note and a full discussion; precondition-failed;
 *   forbidden for a note of another user, unless the caller is a maintainer
 */
export async function editNote(
  { database }: CommentDependencies,
  access: ProjectCall<Caller>,
  { note: text, precondition, ...name }: NoteName & { note: string; precondition: Precondition | undefined },
  author: AuditAuthor,
  { baseUrl }: Pick<Call, 'baseUrl'>,
) {
  requireNote(text)
  const { commit, note } = await getNote(database, access, name)
  const { project, caller } = access
  const edit = { note: text, other: othersOf(note, access, author), precondition }
  const changed = await updateCommitComment(database, note, edit, (stored) =>
    noteHook(stored, { project, commit, user: caller.user, baseUrl }),
  )
  if (!changed) throw notFound('Note')
  return { commit, note: changed }
}

/**
 * @throws DomainError not-found; precondition-failed; forbidden for a note of another user, unless the caller
 *   is a maintainer
 */
export async function removeNote(
  { database }: CommentDependencies,
  access: ProjectCall<Caller>,
  { precondition, ...name }: NoteName & { precondition: Precondition | undefined },
  author: AuditAuthor,
): Promise<void> {
  const { note } = await getNote(database, access, name)
  const removed = await deleteCommitComment(database, note, {
    other: othersOf(note, access, author),
    precondition,
  })
  if (!removed) throw notFound('Note')
}

/** Returns the caller who changes another user's note; null: the caller is the author. */
function othersOf(
  { authorId }: CommentWithAuthor,
  { caller, level }: ProjectCall<Caller>,
  author: AuditAuthor,
): AuditAuthor | null {
  if (authorId === caller.user.id) return null
  if (level < accessLevels.maintainer)
    throw forbidden('Only the author of a note and maintainers of the project may change it')
  return author
}
