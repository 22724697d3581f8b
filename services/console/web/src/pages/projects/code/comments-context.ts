import { createContext, useContext } from 'react'
import type { CommitComment } from '../../../generated/types.gen'

export interface Place {
  path: string
  line: number
  line_type: 'new' | 'old'
}

/** The comments of the shown diff, and how to add one. */
export interface CommentTools {
  comments: readonly CommitComment[]
  /** Unset when the session may not comment. */
  add: ((note: string, place: Place) => Promise<unknown>) | undefined
}

export const CommentsContext = createContext<CommentTools>({ comments: [], add: undefined })

export const useCommentTools = () => useContext(CommentsContext)

/** Names a line of a file: `new 12`. */
export const placeKey = (lineType: string | null, line: number | null) => `${lineType ?? 'new'} ${line}`
