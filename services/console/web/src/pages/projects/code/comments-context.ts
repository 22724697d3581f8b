import { createContext, useContext } from 'react'
import type { CommitNote } from '../../../generated/types.gen'

export interface Place {
  path: string
  line: number
  line_type: 'new' | 'old'
}

/** A comment on a commit, or on a line of its diff. */
export interface CommitComment extends Pick<CommitNote, 'id' | 'author' | 'created_at'> {
  note: string
  edited: boolean
  /** Id of its discussion. */
  discussion: string
  path: string | null
  line: number | null
  line_type: Place['line_type'] | null
}

/** What may be done with an existing comment. */
export interface CommentChanges {
  edit: (comment: CommitComment, note: string) => Promise<unknown>
  remove: (comment: CommitComment) => Promise<unknown>
}

/** The comments of the shown diff, and how to add one. */
export interface CommentTools {
  comments: readonly CommitComment[]
  /** Unset when the session may not comment. */
  add: ((note: string, place: Place) => Promise<unknown>) | undefined
  /** Unset when the session may not change this comment. */
  changesOf: (comment: CommitComment) => CommentChanges | undefined
}

export const CommentsContext = createContext<CommentTools>({
  comments: [],
  add: undefined,
  changesOf: () => undefined,
})

export const useCommentTools = () => useContext(CommentsContext)

/** Names a line of a file: `new 12`. */
export const placeKey = (lineType: string | null, line: number | null) => `${lineType ?? 'new'} ${line}`
