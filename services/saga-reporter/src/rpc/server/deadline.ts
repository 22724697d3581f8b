/** The part of a call that says whether somebody still waits for its answer. */
interface AwaitedCall {
  cancelled: boolean
  getDeadline(): Date | number
}

/** The timer with which @grpc/grpc-js ends a call may fire this much before the clock shows its deadline. */
const timerEarlyMs = 1

/** Whether the caller has stopped waiting because the deadline that it named has passed. */
export const isPastDeadline = (call: Pick<AwaitedCall, 'getDeadline'>, nowMs: number): boolean =>
  nowMs >= Number(call.getDeadline()) - timerEarlyMs

/** Whether the caller no longer waits for the answer: the call was cancelled, or its deadline has passed. */
export const isAbandoned = (call: AwaitedCall, nowMs: number): boolean =>
  call.cancelled || isPastDeadline(call, nowMs)
