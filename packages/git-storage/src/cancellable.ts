/** Work that can be cancelled. */
export interface Cancellable {
  /** Aborted when the client that waits for the work disconnects. */
  readonly signal?: AbortSignal | undefined
}
