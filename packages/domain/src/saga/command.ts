import type { ActivityStatus } from './activity-status.js'
import type { Saga } from './saga.js'

/** Kinds of commands that an operator sends to the orchestrator of a saga. */
export const commandKinds = ['retry', 'compensate', 'skip', 'cancel'] as const
export type CommandKind = (typeof commandKinds)[number]

/** Returns whether a command is about one step of its saga. */
export const isAboutStep = (kind: CommandKind): boolean => kind === 'retry' || kind === 'skip'

/** Statuses of a step that no command can act on: it has succeeded, did not happen, or was undone. */
export const finishedStepStatuses = ['Executed', 'Revoked', 'Compensated'] as const satisfies ActivityStatus[]

/** Returns whether a step can be retried or skipped. */
export const isStepOpen = (status: ActivityStatus): boolean =>
  !(finishedStepStatuses as readonly ActivityStatus[]).includes(status)

/**
 * Returns whether a command of this kind can still act on a saga. A saga that has ended has no open step, but
 * its steps can be undone. A saga with the status Error has not ended for its operators, because a
 * compensation was given up.
 */
export const canBeAsked = (
  kind: CommandKind,
  { status, outcome }: Pick<Saga, 'status' | 'outcome'>,
): boolean =>
  status !== 'Ended' || (kind === 'compensate' && (outcome === 'succeeded' || outcome === 'inconsistent'))

/**
 * States of a command. `leased`: an orchestrator has it and has not answered yet. `unknown`: an orchestrator
 * had it, did not answer in time, and may have executed it. Only `waiting_for_approval`, `pending`, `leased`
 * and `unknown` can change.
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

/**
 * Events of a command. `return`: the orchestrator has not begun. `time_up`: the command has expired, or its
 * lease has ended.
 */
export const commandEvents = [
  ...(['approve', 'deny', 'withdraw', 'deliver_again'] as const),
  ...(['lease', 'succeed', 'fail', 'refuse', 'return'] as const),
  'time_up',
] as const
export type CommandEvent = (typeof commandEvents)[number]

export interface CommandProgress {
  state: CommandState
  /**
   * Whether an orchestrator had the command and did not answer in time. Such a command may have had an
   * effect, whatever its state is.
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
 * Returns a command after an event; null when the event is not possible. A doubtful command becomes `unknown`
 * instead of `expired` or `withdrawn`, because these states claim that it had no effect. An orchestrator may
 * still answer a delivery whose lease has ended.
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
