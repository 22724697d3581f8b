import { createContext, useContext } from 'react'
import type { CommitNote } from '../../../generated/types.gen'

export interface Position {
  path: string
  line: number
  line_type: 'new' | 'old'
}

export interface CommitComment extends Pick<CommitNote, 'id' | 'author' | 'created_at'> {
  note: string
  edited: boolean
  /** Id of its discussion. */
  discussion: string
}

/** A comment on a commit, or on a line of its diff, with the replies to it. */
export interface CommentThread {
  /** Of the discussion. */
  id: string
  first: CommitComment
  replies: CommitComment[]
  path: string | null
  line: number | null
  line_type: Position['line_type'] | null
}

/** What may be done with an existing comment. */
export interface CommentChanges {
  edit: (comment: CommitComment, note: string) => Promise<unknown>
  remove: (comment: CommitComment) => Promise<unknown>
}

/** The comments of the shown diff, and how to add one. */
export interface CommentTools {
  threads: readonly CommentThread[]
  /** Unset when the session may not comment. */
  add: ((note: string, position: Position) => Promise<unknown>) | undefined
  /** Unset when the session may not comment. */
  reply: ((thread: CommentThread, note: string) => Promise<unknown>) | undefined
  /** Replies that were begun, by the id of the thread: parts of a long diff leave the document. */
  drafts: Map<string, string>
  /** Unset when the session may not change this comment. */
  changesOf: (comment: CommitComment) => CommentChanges | undefined
}

export const CommentsContext = createContext<CommentTools>({
  threads: [],
  add: undefined,
  reply: undefined,
  drafts: new Map(),
  changesOf: () => undefined,
})

export const useCommentTools = () => useContext(CommentsContext)

/** Names a line of a file: `new 12`. */
export const positionKey = (lineType: string | null, line: number | null) => `${lineType ?? 'new'} ${line}`
