export const bulkActions = ['resolve', 'note'] as const
export type BulkAction = (typeof bulkActions)[number]

/**
 * `canceled` by an operator, `failed` by an unexpected error: the sagas that the job had not reached are
 * unchanged.
 */
export const bulkStates = ['running', 'finished', 'undoing', 'undone', 'canceled', 'failed'] as const
export type BulkState = (typeof bulkStates)[number]

export const bulkItemStates = ['pending', 'done', 'failed', 'undone', 'undo_failed'] as const
export type BulkItemState = (typeof bulkItemStates)[number]

/** A job that resolves, or writes a note about, every saga of a filter. */
export interface BulkJob {
  tenant: string
  id: number
  action: BulkAction
  note: string
  /** The filters as the API names them. */
  filter: Record<string, unknown>
  state: BulkState
  /**
   * Sagas of the job, and how many of these have come to each state. `done` still counts those that were
   * undone.
   */
  matched: number
  done: number
  failed: number
  undone: number
  undoFailed: number
  authorId: number
  authorName: string
  /** User name of the operator who had the job undone. */
  undoName: string | null
  createdAt: Date
  /** Null while it is running or undoing. */
  finishedAt: Date | null
}

export interface BulkItem {
  position: number
  sagaId: string
  state: BulkItemState
  error: string | null
}
