/** The part of a call that says whether somebody still waits for its answer. */
interface AwaitedCall {
  cancelled: boolean
  getDeadline(): Date | number
}

/** Whether the caller has stopped waiting because the deadline that it named has passed. */
export const isPastDeadline = (call: Pick<AwaitedCall, 'getDeadline'>, nowMs: number): boolean =>
  nowMs >= Number(call.getDeadline())

/** Whether the caller no longer waits for the answer: the call was cancelled, or its deadline has passed. */
export const isAbandoned = (call: AwaitedCall, nowMs: number): boolean =>
  call.cancelled || isPastDeadline(call, nowMs)
