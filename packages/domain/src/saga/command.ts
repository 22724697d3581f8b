import type { ActivityStatus } from './activity-status.js'
import type { Saga } from './saga.js'

/** What an operator asks of the orchestrator of a saga. */
export const commandKinds = ['retry', 'compensate', 'skip', 'cancel'] as const
export type CommandKind = (typeof commandKinds)[number]

/** Whether a command is about one step of its saga. */
export const isAboutStep = (kind: CommandKind): boolean => kind === 'retry' || kind === 'skip'

/** Statuses of a step about which nothing is left to do: it has succeeded, did not happen, or was undone. */
export const settledStepStatuses = ['Executed', 'Revoked', 'Compensated'] as const satisfies ActivityStatus[]

/** Whether a step can be retried or skipped. */
export const isStepOpen = (status: ActivityStatus): boolean =>
  !(settledStepStatuses as readonly ActivityStatus[]).includes(status)

/**
 * Whether a command of this kind can still do something for a saga. One that has ended has no step to go on
 * with, but what it has done can be undone. With the status Error it has not ended for its operators: an
 * undoing was given up.
 */
export const canBeAsked = (
  kind: CommandKind,
  { status, outcome }: Pick<Saga, 'status' | 'outcome'>,
): boolean =>
  status !== 'Ended' || (kind === 'compensate' && (outcome === 'succeeded' || outcome === 'inconsistent'))

/**
 * `leased`: handed to an orchestrator that has not answered yet; `unknown`: an orchestrator had it, has not
 * answered in time, and may have done it. Of these, `waiting_for_approval`, `pending`, `leased` and `unknown`
 * can change.
 */
export const commandStates = [
  'waiting_for_approval',
  'pending',
  'leased',
  'succeeded',
  'failed',
  'refused',
  'denied',
  'withdrawn',
  'expired',
  'unknown',
] as const
export type CommandState = (typeof commandStates)[number]

/** A saga has at most one command in one of these states. */
export const openCommandStates = ['waiting_for_approval', 'pending', 'leased'] as const

/** `return`: the orchestrator has not begun; `time_up`: the command has expired, or its lease has ended. */
export const commandEvents = [
  ...(['approve', 'deny', 'withdraw', 'deliver_again'] as const),
  ...(['lease', 'succeed', 'fail', 'refuse', 'return'] as const),
  'time_up',
] as const
export type CommandEvent = (typeof commandEvents)[number]

export interface CommandProgress {
  state: CommandState
  /**
   * An orchestrator has had the command and did not answer in time: whatever becomes of it, it may have had
   * an effect.
   */
  doubtful: boolean
}

const answers = { succeed: 'succeeded', fail: 'failed', refuse: 'refused' } as const

const transitions: Record<CommandState, Partial<Record<CommandEvent, CommandState>>> = {
  waiting_for_approval: { approve: 'pending', deny: 'denied', withdraw: 'withdrawn', time_up: 'expired' },
  pending: { lease: 'leased', withdraw: 'withdrawn', time_up: 'expired' },
  leased: { ...answers, return: 'pending', time_up: 'unknown' },
  unknown: { ...answers, deliver_again: 'pending' },
  succeeded: {},
  failed: {},
  refused: {},
  denied: {},
  withdrawn: {},
  expired: {},
}

/**
 * A command after an event; null when the event cannot happen to it. A doubtful command never becomes
 * `expired` or `withdrawn`, which would say that it had no effect, but `unknown`. An orchestrator may still
 * answer a delivery whose lease has ended.
 */
export function afterCommandEvent(
  { state, doubtful }: CommandProgress,
  event: CommandEvent,
): CommandProgress | null {
  const isAnswer = event in answers
  const next = (doubtful && isAnswer && state === 'pending' ? transitions.unknown : transitions[state])[event]
  if (next === undefined) return null
  if (doubtful && (next === 'expired' || next === 'withdrawn')) return { state: 'unknown', doubtful }
  return { state: next, doubtful: doubtful || next === 'unknown' }
}
