import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { activityStatuses } from './activity-status.js'
import {
  afterCommandEvent,
  type CommandProgress,
  canBeAsked,
  commandEvents,
  commandKinds,
  commandStates,
  isStepOpen,
} from './command.js'

const begin = fc.constantFrom<CommandProgress>(
  { state: 'waiting_for_approval', doubtful: false },
  { state: 'pending', doubtful: false },
)
const events = fc.array(fc.constantFrom(...commandEvents), { maxLength: 30 })

/** Applies the possible events to a command, and returns each with the command before and after the event. */
function live(first: CommandProgress, given: readonly (typeof commandEvents)[number][]) {
  let command = first
  return given.flatMap((event) => {
    const after = afterCommandEvent(command, event)
    if (after === null) return []
    const step = { event, before: command, after }
    command = after
    return [step]
  })
}

describe('a command', () => {
  it('is delivered a second time only when it was returned untouched or when a person has decided so', () => {
    fc.assert(
      fc.property(begin, events, (first, given) => {
        let isFree = true
        for (const { event } of live(first, given)) {
          if (event === 'lease') {
            expect(isFree).toBe(true)
            isFree = false
          }
          if (event === 'return' || event === 'deliver_again') isFree = true
        }
      }),
    )
  })

  it('never claims to have had no effect after an unanswered delivery', () => {
    fc.assert(
      fc.property(begin, events, (first, given) => {
        let isUnanswered = false
        for (const { event, before, after } of live(first, given)) {
          if (event === 'time_up' && before.state === 'leased') isUnanswered = true
          if (isUnanswered) expect(['expired', 'withdrawn', 'denied']).not.toContain(after.state)
        }
      }),
    )
  })

  it('does not change once an orchestrator has answered it, or once it has ended without a delivery', () => {
    const final = ['succeeded', 'failed', 'refused', 'denied', 'withdrawn', 'expired'] as const
    for (const state of final)
      for (const doubtful of [false, true])
        for (const event of commandEvents) expect(afterCommandEvent({ state, doubtful }, event)).toBeNull()
  })

  it('reaches every state, and leaves every other state by itself when its time is up', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(begin, events, (first, given) => {
        for (const { after } of live(first, given)) seen.add(after.state)
      }),
      { numRuns: 1000, seed: 1 },
    )
    expect([...seen, 'waiting_for_approval'].sort()).toEqual([...commandStates].sort())
    for (const state of ['waiting_for_approval', 'pending', 'leased'] as const)
      expect(afterCommandEvent({ state, doubtful: false }, 'time_up')).not.toBeNull()
  })
})

describe('the commands that an operator can still send', () => {
  it.each([
    ['Started', null, [...commandKinds]],
    ['Overtime', null, [...commandKinds]],
    ['Error', null, [...commandKinds]],
    ['Ended', 'succeeded', ['compensate']],
    ['Ended', 'inconsistent', ['compensate']],
    ['Ended', 'compensated', []],
    ['Ended', 'empty', []],
  ] as const)('of a saga that is %s with the outcome %s: %j', (status, outcome, kinds) => {
    expect(commandKinds.filter((kind) => canBeAsked(kind, { status, outcome }))).toEqual(kinds)
  })

  it('are none for a step that has succeeded, did not happen or was undone', () => {
    expect(activityStatuses.filter((status) => !isStepOpen(status))).toEqual([
      'Revoked',
      'Executed',
      'Compensated',
    ])
  })
})
