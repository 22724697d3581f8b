import { describe, expect, it } from 'vitest'
import type { Activity } from './activity.js'
import { applyActivityEvent } from './apply-activity-event.js'
import type { ActivityEvent } from './events.js'

const at = new Date('2026-01-02T03:04:05Z')
const later = new Date('2026-01-02T03:04:06Z')
const id = { activityId: 'a' }

const started: ActivityEvent = {
  operation: 'ActivityExecuteStarted',
  ...id,
  sagaId: 's',
  timeOutSeconds: 2,
  order: 0,
  parameterData: Buffer.from('{}'),
  addTime: null,
}
const ended = (result = ''): ActivityEvent => ({
  operation: 'ActivityEnded',
  ...id,
  sagaId: null,
  resultData: Buffer.from(result),
})
const aborted = (errors = 'e'): ActivityEvent => ({ operation: 'ActivityExecuteAborted', ...id, errors })
const overtime: ActivityEvent = { operation: 'ActivityExecuteOvertime', ...id, sagaId: 's', errors: 'o' }
const revoked: ActivityEvent = { operation: 'ActivityRevoked', ...id }
const compensated: ActivityEvent = { operation: 'ActivityCompensated', ...id }
const compensateAborted = (sagaId: string | null = null, errors = 'c'): ActivityEvent => ({
  operation: 'ActivityCompensateAborted',
  ...id,
  sagaId,
  errors,
})
const retryExecute = (retries: number): ActivityEvent => ({
  operation: 'ActivityRetried',
  ...id,
  retryType: 'Execute',
  retries,
  status: 'Executing',
  statusNamed: false,
})
const retryCompensate = (retries: number): ActivityEvent => ({
  operation: 'ActivityRetried',
  ...id,
  retryType: 'Compensate',
  retries,
  status: 'Compensating',
  statusNamed: false,
})

function activityAfter(...events: ActivityEvent[]): Activity | null {
  let activity: Activity | null = null
  for (const event of events) activity = applyActivityEvent(activity, event, at).activity
  return activity
}

/** Returns the activity with its saga named by an overtime or start report, and without any other fact. */
const named = (activity: Activity | null): Activity | null => activity && { ...activity, sagaId: 's' }

const states: Record<string, Activity | null> = {
  unknown: null,
  Executing: activityAfter(started),
  Revoked: named(activityAfter(revoked)),
  ExecuteAborted: named(activityAfter(aborted())),
  Overtime: named(activityAfter(overtime)),
  Executed: named(activityAfter(ended())),
  Compensating: named(activityAfter(retryCompensate(1))),
  CompensateAborted: named(activityAfter(compensateAborted())),
  Compensated: named(activityAfter(compensated)),
}

const events: Record<string, ActivityEvent> = {
  ExecuteStarted: started,
  Ended: ended(),
  ExecuteAborted: aborted(),
  ExecuteOvertime: overtime,
  Revoked: revoked,
  'RT-E': retryExecute(2),
  'RT-C': retryCompensate(2),
  CompensateAborted: compensateAborted(),
  Compensated: compensated,
}

// `X` new status, `=` duplicate, `+` late, `p` parked, `!` conflict. Each row is a state, each column an
// event, as above.
const table: Record<string, string[]> = {
  unknown: [
    'Executing',
    'Executed p',
    'ExecuteAborted p',
    'Overtime',
    'Revoked p',
    'Executing p',
    'Compensating p',
    'CompensateAborted p',
    'Compensated p',
  ],
  Executing: [
    '=',
    'Executed',
    'ExecuteAborted',
    'Overtime',
    'Revoked',
    'Executing',
    'Compensating',
    'CompensateAborted',
    'Compensated',
  ],
  Revoked: [
    '+',
    'Executed !',
    'ExecuteAborted',
    'Overtime',
    '=',
    'Executing',
    'Compensating !',
    'CompensateAborted !',
    'Compensated !',
  ],
  ExecuteAborted: [
    '+',
    'Executed !',
    '=',
    'Overtime',
    '+',
    'Executing',
    'Compensating',
    'CompensateAborted',
    'Compensated',
  ],
  Overtime: ['+', 'Executed', '+', '=', '+', 'Executing', 'Compensating', 'CompensateAborted', 'Compensated'],
  Executed: [
    '+',
    '=',
    'Executed !',
    '+',
    'Executed !',
    '+',
    'Compensating',
    'CompensateAborted',
    'Compensated',
  ],
  Compensating: ['+', '+', '+', '+', '+', '+', 'Compensating', 'CompensateAborted', 'Compensated'],
  CompensateAborted: ['+', '+', '+', '+', '+', '+', 'Compensating', '=', 'Compensated'],
  Compensated: ['+', '+', '+', '+', '+', '+', '+', '+', '='],
}

const results = { '=': 'duplicate', '+': 'late', p: 'parked', '!': 'conflict recorded' } as const

/** Returns the status and the answer that a cell stands for. */
function expectation(cell: string, state: string) {
  const [first = '', mark] = cell.split(' ')
  if (first === '=' || first === '+') return { status: state, result: results[first] }
  return { status: first, result: mark ? results[mark as 'p' | '!'] : 'recorded' }
}

const cells = Object.entries(table).flatMap(([state, row]) =>
  Object.keys(events).map((event, column) => ({ state, event, cell: row[column] ?? '' })),
)

describe('the activity table', () => {
  it('has every cell', () => expect(cells.filter(({ cell }) => cell !== '')).toHaveLength(9 * 9))

  it.each(cells)('$state × $event → $cell', ({ state, event, cell }) => {
    const applied = applyActivityEvent(states[state] ?? null, events[event] as ActivityEvent, later)
    expect({ status: applied.activity.status, result: applied.result }).toEqual(expectation(cell, state))
  })
})

describe('facts beside the status', () => {
  const apply = (activity: Activity | null, event: ActivityEvent) =>
    applyActivityEvent(activity, event, later)

  it('refuses an event that names another saga than the stored activity', () => {
    expect(() => apply(activityAfter(started), { ...overtime, sagaId: 'other' } as ActivityEvent)).toThrow(
      expect.objectContaining({ code: 'ACTIVITY_SAGA_MISMATCH' }),
    )
  })

  it('parks an activity until an event names its saga', () => {
    const parked = apply(null, { ...overtime, sagaId: null } as ActivityEvent)
    expect(parked).toMatchObject({ result: 'parked', activity: { status: 'Overtime', sagaId: null } })
    expect(apply(parked.activity, ended()).result).toBe('parked')
    expect(apply(parked.activity, started)).toMatchObject({ result: 'late', activity: { sagaId: 's' } })
  })

  it('lets a late start fill the details of a parked activity that is already compensated', () => {
    const { activity, result } = apply(activityAfter(compensated), started)
    expect(result).toBe('late')
    expect(activity).toMatchObject({ status: 'Compensated', sagaId: 's', order: 0, startedAt: later })
  })

  it('keeps the first result and reports a conflict when a different result arrives', () => {
    const { activity, result } = apply(activityAfter(started, ended('1')), ended('2'))
    expect(result).toBe('conflict recorded')
    expect(activity.anomalies).toEqual(['result_conflict'])
    expect(Buffer.from(activity.resultData ?? []).toString()).toBe('1')
  })

  it('reports no conflict when a known retry explains the success after an abort, in either order', () => {
    expect(activityAfter(started, aborted(), retryExecute(1), ended())?.anomalies).toEqual([])
    expect(activityAfter(started, aborted(), ended(), retryExecute(1))?.anomalies).toEqual([])
    expect(activityAfter(started, aborted(), retryExecute(0), ended())?.anomalies).toEqual([])
    expect(activityAfter(started, aborted(), ended())?.anomalies).toEqual(['executed_and_aborted'])
  })

  it('keeps the newest errors of the same kind, and those of an overtime over those of an abort', () => {
    expect(activityAfter(started, aborted('1'), aborted('2'))?.executeErrors).toBe('2')
    expect(activityAfter(started, overtime, aborted('1'))?.executeErrors).toBe('o')
    expect(activityAfter(started, aborted('1'), compensateAborted(null, '2'))).toMatchObject({
      executeErrors: '1',
      compensateErrors: '2',
    })
  })

  it('remembers that a compensation was given up until the compensation succeeds', () => {
    const gaveUp = activityAfter(started, ended(), compensateAborted('s'))
    expect(gaveUp?.finalAbort).toBe(true)
    expect(apply(gaveUp, compensateAborted(null)).activity.finalAbort).toBe(true)
    expect(apply(gaveUp, retryCompensate(1)).activity).toMatchObject({
      status: 'Compensating',
      finalAbort: true,
    })
    const healed = apply(gaveUp, compensated).activity
    expect(healed.finalAbort).toBe(false)
    expect(apply(healed, compensateAborted('s')).activity.finalAbort).toBe(false)
  })

  it('takes a repeated or lower retry as a duplicate', () => {
    const retried = activityAfter(started, aborted(), retryExecute(2))
    expect(apply(retried, retryExecute(2)).result).toBe('duplicate')
    expect(apply(retried, retryExecute(1)).result).toBe('duplicate')
    expect(retried).toMatchObject({ status: 'Executing', executeAttempts: 2 })
  })

  it('counts a retry report without number and status, and keeps the attempt', () => {
    const { activity } = apply(activityAfter(started, aborted()), retryExecute(0))
    expect(activity).toMatchObject({ status: 'ExecuteAborted', executeAttempts: 0, retryReports: 1 })
  })

  it('applies the status a retry report names', () => {
    const failedAgain = { ...retryExecute(1), status: 'ExecuteAborted', statusNamed: true } as ActivityEvent
    expect(activityAfter(started, aborted(), failedAgain)).toMatchObject({
      status: 'ExecuteAborted',
      executeAttempts: 1,
    })
    const done = { ...retryExecute(1), status: 'Executed', statusNamed: true } as ActivityEvent
    expect(activityAfter(started, aborted(), done)).toMatchObject({ status: 'Executed', endedAt: at })
    expect(activityAfter(started, aborted(), retryExecute(1), done)?.status).toBe('Executed')
  })

  it('never changes the activity that it receives', () => {
    const before = activityAfter(started)
    const copy = structuredClone(before)
    apply(before, aborted())
    apply(before, ended('x'))
    expect(structuredClone(before)).toEqual(copy)
  })
})
