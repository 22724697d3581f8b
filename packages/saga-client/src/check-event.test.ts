import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkEvent } from './check-event.js'

const activity = { sagaId: 's', activityId: 'a' }
const problemOf = (operation: Parameters<typeof checkEvent>[0], event: unknown) => {
  try {
    checkEvent(operation, event)
    return undefined
  } catch (error) {
    return error instanceof TypeError ? error.message : error
  }
}

describe('an event', () => {
  it.each([
    ['sagaStarted', undefined, 'the event is not an object'],
    ['sagaStarted', 'trip-1', 'the event is not an object'],
    ['sagaStarted', {}, 'sagaId is missing'],
    ['sagaEnded', { sagaId: undefined }, 'sagaId is missing'],
    ['sagaEnded', { sagaId: null }, 'sagaId is missing'],
    ['sagaStarted', { sagaId: 42 }, 'sagaId is not a text'],
    ['sagaStarted', { sagaId: 's', serviceName: {} }, 'serviceName is not a text'],
    ['activityEnded', { sagaId: 's' }, 'activityId is missing'],
    ['activityCompensated', { ...activity, activityId: {} }, 'activityId is not a text'],
    ['activityExecuteStarted', { ...activity, order: 1.5 }, 'order is not a whole number'],
    ['activityExecuteStarted', { ...activity, timeOutSeconds: '30' }, 'timeOutSeconds is not a whole number'],
    ['activityRetried', { ...activity, phase: 'execute' }, 'retries is missing'],
    ['activityRetried', { ...activity, retries: 1 }, 'phase is missing'],
    ['activityRetried', { ...activity, retries: 1, phase: 'undo' }, "phase is not 'execute' or 'compensate'"],
    ['activityRevoked', { ...activity, attempt: Number.NaN }, 'attempt is not a whole number'],
    ['activityRevoked', { ...activity, time: '2026-01-02' }, 'time is not a valid Date'],
    ['activityRevoked', { ...activity, time: new Date('never') }, 'time is not a valid Date'],
    ['activityRevoked', { ...activity, traceParent: 1 }, 'traceParent is not a text'],
    ['activityRevoked', { ...activity, parentSagaId: {} }, 'parentSagaId is not a text'],
    ['sagaStarted', { sagaId: 's', tags: ['a=1'] }, 'tags is not an object'],
    ['sagaStarted', { sagaId: 's', tags: { order: undefined } }, 'tags.order is not a text'],
    ['sagaStarted', { sagaId: 's', tags: { order: {} } }, 'tags.order is not a text'],
    [
      'sagaStarted',
      { sagaId: 's', tags: { order: 'a\nb' } },
      'tags.order is not up to 192 characters without control characters',
    ],
    [
      'sagaStarted',
      { sagaId: 's', tags: { 'a=b': 'c' } },
      'tags has a name that is not 1 to 64 characters without = and control characters',
    ],
    [
      'sagaStarted',
      { sagaId: 's', tags: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [index, 'x'])) },
      'tags has more than 16 entries',
    ],
  ] as const)('is refused with the name of the field that is wrong: %s %j', (operation, event, problem) => {
    expect(problemOf(operation, event)).toBe(problem)
  })

  it('may omit every other field, or have it as undefined or null', () => {
    const optional = ['order', 'timeOutSeconds', 'time', 'attempt', 'tags', 'traceParent', 'parentSagaId']
    for (const nothing of [undefined, null]) {
      const event = { ...activity, ...Object.fromEntries(optional.map((name) => [name, nothing])) }
      expect(problemOf('activityExecuteStarted', event)).toBeUndefined()
    }
    const tags = { order: 42, note: ' padded ' }
    expect(problemOf('sagaStarted', { sagaId: '', tags })).toBeUndefined()
  })

  it('is accepted or refused without any other failure, whatever it is', () => {
    fc.assert(
      fc.property(fc.anything(), (event) => {
        expect(['string', 'undefined']).toContain(typeof problemOf('activityRetried', event))
      }),
    )
  })
})
