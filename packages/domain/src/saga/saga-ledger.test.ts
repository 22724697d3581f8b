import { describe, expect, it } from 'vitest'
import { SagaLedger } from './saga-ledger.js'
import { type RawSagaEvent, validateSagaEvent } from './validate-event.js'

const at = (second: number) => new Date(second * 1000)

const apply = (ledger: SagaLedger, second: number, raw: RawSagaEvent) =>
  ledger.apply(validateSagaEvent(raw), at(second))

const execute = (activityId: string, sagaId: string): RawSagaEvent => ({
  operation: 'ActivityExecuteStarted',
  activityId,
  sagaId,
  timeOutSeconds: 0,
  order: 0,
  parameterData: Buffer.from('{}'),
  addTime: '',
})
const done = (activityId: string): RawSagaEvent => ({
  operation: 'ActivityEnded',
  activityId,
  sagaId: '',
  resultData: Buffer.alloc(0),
})
const start: RawSagaEvent = { operation: 'SagaStarted', sagaId: 's', serviceName: 'orders' }
const end: RawSagaEvent = { operation: 'SagaEnded', sagaId: 's', serviceName: '' }

describe('a ledger', () => {
  it('derives the saga from all of its activities, whichever of them an event names', () => {
    const ledger = new SagaLedger()
    apply(ledger, 1, start)
    apply(ledger, 2, execute('a', 's'))
    apply(ledger, 3, execute('b', 's'))
    apply(ledger, 4, done('a'))
    expect(apply(ledger, 5, end)).toMatchObject({ result: 'recorded', sagaId: 's' })
    expect(ledger.sagas).toMatchObject([{ status: 'Ended', outcome: 'inconsistent', lastEventAt: at(5) }])
    expect(apply(ledger, 6, done('b'))).toMatchObject({ result: 'recorded', sagaId: 's' })
    expect(ledger.sagas).toMatchObject([{ outcome: 'succeeded', late: true, lastEventAt: at(6) }])
  })

  it('includes activities of a loaded saga that are not loaded themselves', () => {
    const complete = new SagaLedger()
    apply(complete, 1, start)
    const [saga] = complete.sagas
    const ledger = new SagaLedger()
    if (saga) {
      const facts = { finalAbort: false, overtimeNamedSaga: false, givenUpAt: null }
      ledger.loadSaga(saga, [{ status: 'Executed', ...facts }])
    }
    apply(ledger, 2, end)
    expect(ledger.sagas).toMatchObject([{ outcome: 'succeeded' }])
    expect(ledger.changedActivities).toEqual([])
  })

  it('parks an activity until an event names its saga, and then includes the facts from the time before', () => {
    const ledger = new SagaLedger()
    expect(apply(ledger, 1, done('a'))).toMatchObject({ result: 'parked', sagaId: null })
    expect(ledger.changedSagas).toEqual([])
    expect(apply(ledger, 2, execute('a', 's'))).toMatchObject({ result: 'late', sagaId: 's' })
    expect(ledger.sagas).toMatchObject([{ id: 's', status: 'Pending' }])
    expect(ledger.activities).toMatchObject([{ id: 'a', sagaId: 's', status: 'Executed' }])
  })

  it('changes nothing for a duplicate or a rejected event', () => {
    const ledger = new SagaLedger()
    apply(ledger, 1, start)
    apply(ledger, 2, execute('a', 's'))
    const before = JSON.stringify([ledger.sagas, ledger.activities])
    expect(apply(ledger, 3, execute('a', 's'))).toMatchObject({ result: 'duplicate', sagaId: 's' })
    expect(() => apply(ledger, 4, execute('a', 'other'))).toThrow('activity belongs to another saga')
    expect(JSON.stringify([ledger.sagas, ledger.activities])).toBe(before)
  })
})
