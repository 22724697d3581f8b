export const bulkActions = ['resolve', 'note'] as const
export type BulkAction = (typeof bulkActions)[number]

/**
 * `canceled` by an operator, `failed` by an unexpected error. Sagas that the job had not reached then are
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
  /** Number of sagas of the job, and of those in each state. `done` still counts undone sagas. */
  matched: number
  done: number
  failed: number
  undone: number
  undoFailed: number
  authorId: number
  authorName: string
  /** Username of the operator who undid the job. */
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
