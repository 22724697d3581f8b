/** The part of any server call that says whether somebody still waits for its answer. */
interface AwaitedCall {
  cancelled: boolean
  getDeadline(): Date | number
}

/** When the caller stops waiting, in milliseconds since 1970; Infinity when it named no deadline. */
export const deadlineMsOf = (call: AwaitedCall): number => Number(call.getDeadline())

/** Whether nobody waits for the answer any more: the call was cancelled, or its deadline has passed. */
export const isAbandoned = (call: AwaitedCall, nowMs: number): boolean =>
  call.cancelled || nowMs >= deadlineMsOf(call)
