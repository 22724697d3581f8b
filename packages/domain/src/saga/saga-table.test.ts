import { describe, expect, it } from 'vitest'
import type { ActivityStatus } from './activity-status.js'
import { applySagaEvent, noteActivityEvent } from './apply-saga-event.js'
import type { SagaEnded, SagaStarted } from './events.js'
import { deriveSagaOutcome, deriveSagaStatus, type Saga, unseenSaga } from './saga.js'

const at = new Date('2026-01-02T03:04:05Z')
const later = new Date('2026-01-02T03:04:06Z')
const activity = (status: ActivityStatus, flags = {}) => ({
  status,
  finalAbort: false,
  overtimeNamedSaga: false,
  givenUpAt: null,
  ...flags,
})
const overtime = activity('Overtime', { overtimeNamedSaga: true })
const gaveUp = activity('CompensateAborted', { finalAbort: true })
const start: SagaStarted = { operation: 'SagaStarted', sagaId: 's', serviceName: 'orders', addTime: null }
const end: SagaEnded = { operation: 'SagaEnded', sagaId: 's', serviceName: null, expiresAt: null }
const saga = (facts: Partial<Saga> = {}): Saga => ({ ...unseenSaga('s', at), ...facts })
const startedSaga = saga({ startedAt: at, serviceName: 'orders', status: 'Started' })
const endedSaga = saga({ ...startedSaga, endedAt: at, status: 'Ended' })

describe('deriveSagaStatus', () => {
  it.each([
    ['only activity events', null, null, [activity('Executing')], 'Pending'],
    ['started', at, null, [], 'Started'],
    ['started, activity done', at, null, [activity('Executed')], 'Started'],
    ['overtime that named the saga', at, null, [overtime], 'Overtime'],
    ['overtime before the start', null, null, [overtime], 'Overtime'],
    ['overtime that named no saga', at, null, [activity('Overtime')], 'Started'],
    ['overtime, executed after all', at, null, [{ ...overtime, status: 'Executed' as const }], 'Started'],
    ['overtime, compensated', at, null, [{ ...overtime, status: 'Compensated' as const }], 'Started'],
    ['overtime, being compensated', at, null, [{ ...overtime, status: 'Compensating' as const }], 'Overtime'],
    ['ended', at, at, [activity('Executed')], 'Ended'],
    ['ended before the start', null, at, [], 'Ended'],
    ['ended with overtime', at, at, [overtime], 'Ended'],
    ['compensation given up', at, null, [activity('Compensated'), gaveUp], 'Error'],
    ['compensation given up before the start', null, null, [gaveUp], 'Error'],
    ['ended never hides a compensation given up', at, at, [gaveUp], 'Error'],
    ['given up, tried again', at, at, [{ ...gaveUp, status: 'Compensating' as const }], 'Error'],
    ['given up, compensated after all', at, at, [{ ...gaveUp, status: 'Compensated' as const }], 'Ended'],
    ['compensation failed, not given up', at, null, [activity('CompensateAborted')], 'Started'],
  ] as const)('%s', (_, startedAt, endedAt, activities, status) => {
    expect(deriveSagaStatus({ startedAt, endedAt, resolvedAt: null }, activities)).toBe(status)
  })
})

describe('deriveSagaOutcome', () => {
  it.each([
    [[], 'empty'],
    [['Executed', 'Executed'], 'succeeded'],
    [['Compensated', 'Revoked'], 'compensated'],
    [['Revoked'], 'compensated'],
    [['Executed', 'Revoked'], 'inconsistent'],
    [['Compensated', 'CompensateAborted'], 'inconsistent'],
    [['ExecuteAborted'], 'inconsistent'],
    [['Executed', 'Executing'], 'inconsistent'],
  ] as const)('%j → %s', (statuses, outcome) => {
    const activities = statuses.map((status) => ({ status }))
    expect(deriveSagaOutcome('Ended', activities)).toBe(outcome)
    expect(deriveSagaOutcome('Error', activities)).toBeNull()
    expect(deriveSagaOutcome('Started', activities)).toBeNull()
  })
})

describe('applySagaEvent', () => {
  it.each([
    ['unknown', null, start, 'recorded'],
    ['unknown', null, end, 'recorded'],
    ['Pending', saga(), start, 'recorded'],
    ['Pending', saga(), end, 'recorded'],
    ['Started', startedSaga, start, 'duplicate'],
    ['Started', startedSaga, end, 'recorded'],
    ['Overtime', saga({ ...startedSaga, status: 'Overtime' }), start, 'duplicate'],
    ['Overtime', saga({ ...startedSaga, status: 'Overtime' }), end, 'recorded'],
    ['Ended', endedSaga, start, 'duplicate'],
    ['Ended, provisional', saga({ endedAt: at, status: 'Ended' }), start, 'late'],
    ['Ended', endedSaga, end, 'duplicate'],
    ['Error', saga({ ...startedSaga, status: 'Error' }), start, 'duplicate'],
    ['Error', saga({ ...startedSaga, status: 'Error' }), end, 'late'],
  ] as const)('%s × %#', (_, before, event, result) => {
    const applied = applySagaEvent(before, event, later)
    expect(applied.result).toBe(result)
    expect(applied.saga[event.operation === 'SagaStarted' ? 'startedAt' : 'endedAt']).not.toBeNull()
    if (result === 'duplicate') expect(applied.saga).toBe(before)
  })

  it('keeps the first end and the latest expiry', () => {
    const [soon, late] = [new Date('2026-02-01'), new Date('2026-03-01')]
    const first = applySagaEvent(startedSaga, { ...end, expiresAt: late }, at).saga
    expect(applySagaEvent(first, { ...end, expiresAt: soon }, later)).toEqual({
      saga: first,
      result: 'duplicate',
    })
    const second = applySagaEvent({ ...first, expiresAt: soon }, { ...end, expiresAt: late }, later).saga
    expect(second).toMatchObject({ endedAt: at, expiresAt: late })
  })

  it('refuses another service than that of the saga, but lets the start correct the service of an early end', () => {
    const mismatch = expect.objectContaining({ code: 'SAGA_SERVICE_MISMATCH' })
    expect(() => applySagaEvent(startedSaga, { ...start, serviceName: 'x' }, later)).toThrow(mismatch)
    expect(() => applySagaEvent(startedSaga, { ...end, serviceName: 'x' }, later)).toThrow(mismatch)
    const early = applySagaEvent(null, { ...end, serviceName: 'x' }, at).saga
    expect(applySagaEvent(early, start, later).saga.serviceName).toBe('orders')
  })
})

describe('noteActivityEvent', () => {
  it('creates a pending saga, and marks an ended one as late', () => {
    expect(noteActivityEvent(null, 's', at)).toMatchObject({
      status: 'Pending',
      startedAt: null,
      late: false,
    })
    expect(noteActivityEvent(endedSaga, 's', later)).toMatchObject({ late: true, lastEventAt: later })
  })
})
