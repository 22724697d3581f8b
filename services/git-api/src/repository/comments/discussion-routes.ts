import type { Database } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import {
  auditAuthor,
  created,
  endpoint,
  integer,
  noContent,
  ok,
  pageParameters,
  pageReply,
  parameterProblem,
  pathCharsMax,
  preconditionOf,
  proseCharsMax,
  type Route,
  route,
  rowsOf,
  text,
  unsupported,
  versioned,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { optional, optionalText } from '../../shapes/parameters.js'
import type { CommentDependencies } from './comments.js'
import * as discussions from './discussions.js'
import { discussionShape, noteShape, presentDiscussion, presentNote } from './present.js'

export function discussionRoutes(deps: CommentDependencies): Route[] {
  const { readCode, comment } = deps.guards
  const path = '/projects/:id/repository/commits/:sha/discussions'
  const one = `${path}/:discussion_id`
  const note = `${one}/notes/:note_id`
  return [
    route('GET', path, readCode, listDiscussions(deps.database)),
    route('POST', path, comment, createDiscussion(deps)),
    route('GET', one, readCode, getDiscussion(deps.database)),
    route('GET', `${one}/notes`, readCode, listNotes(deps.database)),
    route('POST', `${one}/notes`, comment, createNote(deps)),
    route('GET', note, readCode, getNote(deps.database)),
    route('PUT', note, comment, updateNote(deps)),
    route('DELETE', note, comment, deleteNote(deps)),
  ]
}

const ofDiscussion = { sha: text(), discussion_id: text() }
const ofNote = { ...ofDiscussion, note_id: integer() }

const nameOf = ({ sha, discussion_id }: { sha: string; discussion_id: string }) => ({
  revision: sha,
  discussion: discussionOf(discussion_id),
})

const noteNameOf = ({ note_id, ...name }: Parameters<typeof nameOf>[0] & { note_id: number }) => ({
  ...nameOf(name),
  id: note_id,
})

/** Ids of comments have 16 digits at most. */
const discussionId = /^0{24}[0-9a-f]{16}$/

/** Returns the id of the first comment of a discussion; null when the id is not a discussion id. */
function discussionOf(id: string): bigint | null {
  const value = discussionId.test(id) ? BigInt(`0x${id}`) : null
  return value !== null && value <= 2n ** 63n - 1n ? value : null
}

const now = {
  created_at: unsupported('is not supported: a note is created now'),
}

const listDiscussions = (database: Database) =>
  endpoint({
    summary: 'List the comments on a commit as discussions',
    replies: { 200: z.array(discussionShape) },
    refusals: [413],
    input: z.object({ ...pageParameters, sha: text() }),
    async handle({ sha, ...page }, access: ProjectCall, call) {
      const found = await discussions.listDiscussions(database, access, sha, rowsOf(page), call)
      const items = found.discussions.map((notes) => presentDiscussion(notes, found.commit, call.baseUrl))
      return pageReply(items, page, found.total, call)
    },
  })

const sha = () => optionalText(text())
const path = () => optionalText(text(pathCharsMax))

/** GitLab's position of a line. An unchanged line has both numbers, and its position is the new one. */
const position = z.object({
  position_type: optional(z.enum(['text'])),
  base_sha: sha(),
  start_sha: sha(),
  head_sha: sha(),
  new_path: path(),
  new_line: optional(integer()),
  old_path: path(),
  old_line: optional(integer()),
  line_range: unsupported('is not supported: a comment stands on one line'),
})

type Position = z.output<typeof position>

function positionOf({ new_path, new_line, old_path, old_line, base_sha, start_sha, head_sha }: Position) {
  const commits = { base_sha, start_sha, head_sha }
  if (new_line !== undefined) {
    const path = new_path ?? old_path
    if (path === undefined) throw parameterProblem('position[new_path]', 'is missing')
    return { path, line: new_line, lineType: 'new' as const, commits }
  }
  const path = old_path ?? new_path
  if (old_line === undefined) throw parameterProblem('position[new_line]', 'is missing')
  if (path === undefined) throw parameterProblem('position[old_path]', 'is missing')
  return { path, line: old_line, lineType: 'old' as const, commits }
}

const createDiscussion = (deps: CommentDependencies) =>
  endpoint({
    summary: 'Start a discussion on a commit or on a line of its diff',
    replies: { 201: discussionShape },
    input: z.object({ sha: text(), body: text(proseCharsMax), position: optional(position), ...now }),
    async handle({ sha: revision, body: note, position: given }, access: ProjectCall<Caller>, call) {
      const position = given && positionOf(given)
      const begun = await discussions.beginDiscussion(deps, access, { revision, note, position }, call)
      return created(presentDiscussion([begun.note], begun.commit, call.baseUrl))
    },
  })

const getDiscussion = (database: Database) =>
  endpoint({
    summary: 'Get a discussion on a commit',
    replies: { 200: discussionShape },
    refusals: [413],
    input: z.object(ofDiscussion),
    async handle(name, access: ProjectCall, call) {
      const { commit, notes } = await discussions.getDiscussion(database, access, nameOf(name), call)
      return ok(presentDiscussion(notes, commit, call.baseUrl))
    },
  })

const listNotes = (database: Database) =>
  endpoint({
    summary: 'List the notes of a discussion, oldest first',
    replies: { 200: z.array(noteShape) },
    refusals: [413],
    input: z.object({ ...pageParameters, ...ofDiscussion }),
    async handle({ sha, discussion_id, ...page }, access: ProjectCall, call) {
      const name = nameOf({ sha, discussion_id })
      const found = await discussions.listNotes(database, access, name, rowsOf(page), call)
      const items = found.notes.map((note) => presentNote(note, found.commit, call.baseUrl))
      return pageReply(items, page, found.total, call)
    },
  })

const createNote = (deps: CommentDependencies) =>
  endpoint({
    summary: 'Reply to a discussion on a commit',
    replies: { 201: noteShape },
    input: z.object({ ...ofDiscussion, body: text(proseCharsMax), ...now }),
    async handle({ body: note, ...name }, access: ProjectCall<Caller>, call) {
      const added = await discussions.addReply(deps, access, { ...nameOf(name), note }, call)
      return created(presentNote(added.note, added.commit, call.baseUrl))
    },
  })

const versionedNote = (note: ReturnType<typeof presentNote>) =>
  versioned(note, { updatedAt: note.updated_at })

const getNote = (database: Database) =>
  endpoint({
    summary: 'Get a note of a discussion',
    replies: { 200: noteShape },
    input: z.object(ofNote),
    async handle(name, access: ProjectCall, call) {
      const { commit, note } = await discussions.getNote(database, access, noteNameOf(name))
      return versionedNote(presentNote(note, commit, call.baseUrl))
    },
  })

const updateNote = (deps: CommentDependencies) =>
  endpoint({
    summary: 'Edit a note; allowed for its author and for maintainers',
    replies: { 200: noteShape },
    refusals: [412],
    input: z.object({
      ...ofNote,
      body: text(proseCharsMax),
      resolved: unsupported('is not supported: discussions of commits are not resolved'),
    }),
    async handle({ body: note, ...name }, access: ProjectCall<Caller>, call) {
      const author = auditAuthor(access.caller, call)
      const given = { ...noteNameOf(name), note, precondition: preconditionOf(call) }
      const changed = await discussions.editNote(deps, access, given, author, call)
      return versionedNote(presentNote(changed.note, changed.commit, call.baseUrl))
    },
  })

const deleteNote = (deps: CommentDependencies) =>
  endpoint({
    summary: 'Delete a note; allowed for its author and for maintainers',
    replies: { 204: null },
    refusals: [412],
    input: z.object(ofNote),
    async handle(name, access: ProjectCall<Caller>, call) {
      const named = { ...noteNameOf(name), precondition: preconditionOf(call) }
      await discussions.removeNote(deps, access, named, auditAuthor(access.caller, call))
      return noContent()
    },
  })
