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
  /** Id of the discussion. */
  discussion: string
}

/** A comment on a commit, or on a line of its diff, with its replies. */
export interface CommentThread {
  /** Id of the discussion. */
  id: string
  first: CommitComment
  replies: CommitComment[]
  path: string | null
  line: number | null
  line_type: Position['line_type'] | null
}

/** The actions on an existing comment. */
export interface CommentChanges {
  edit: (comment: CommitComment, note: string) => Promise<unknown>
  remove: (comment: CommitComment) => Promise<unknown>
}

/** The comments of the shown diff, and the functions that add comments. */
export interface CommentTools {
  threads: readonly CommentThread[]
  /** Unset when the session may not comment. */
  add: ((note: string, position: Position) => Promise<unknown>) | undefined
  /** Unset when the session may not comment. */
  reply: ((thread: CommentThread, note: string) => Promise<unknown>) | undefined
  /** Unfinished replies by the id of the thread, because parts of a long diff leave the document. */
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

/** Returns the key of a line of a file: `new 12`. */
export const positionKey = (lineType: string | null, line: number | null) => `${lineType ?? 'new'} ${line}`
