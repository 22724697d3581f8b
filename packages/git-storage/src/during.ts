/** The request that work is done for. */
export interface During {
  /** Aborted when nobody waits for the work any more. Making one takes longer than most answers: ask late. */
  readonly signal?: AbortSignal | undefined
}
