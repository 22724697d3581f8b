/** Work that may end before it is done. */
export interface Cancellable {
  /** Aborted when the client that waits for the work goes away. Reading this property creates the signal, so read it late. */
  readonly signal?: AbortSignal | undefined
}
