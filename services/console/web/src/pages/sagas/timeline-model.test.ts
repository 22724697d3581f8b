import { describe, expect, it } from 'vitest'
import type { SagaActivity, SagaDetail, SagaEvent } from '../../generated/types.gen'
import { timelineOf } from './timeline-model'

/** Returns a time in seconds after the saga began. */
const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString()
const now = Date.parse(at(200))

const activity = (given: Partial<SagaActivity>): SagaActivity => ({
  activity_id: 'a',
  order: 1,
  status: 'Executed',
  execute_status: 'Executed',
  compensation_status: null,
  execute_attempts: 1,
  compensate_attempts: 0,
  retry_reports: 0,
  time_out_seconds: null,
  deadline_at: null,
  add_time: null,
  first_seen_at: at(0),
  started_at: at(0),
  ended_at: null,
  aborted_at: null,
  overtime_at: null,
  revoked_at: null,
  compensating_at: null,
  compensated_at: null,
  compensate_aborted_at: null,
  last_event_at: at(0),
  execute_duration_ms: null,
  compensate_duration_ms: null,
  execute_errors: null,
  compensate_errors: null,
  error_fingerprint: null,
  compensation_given_up: false,
  anomalies: [],
  parameter: null,
  result: null,
  ...given,
})

const saga = (activities: SagaActivity[], given: Partial<SagaDetail> = {}): SagaDetail => ({
  saga_id: 's',
  tenant: 'default',
  service_name: 'booking',
  status: 'Ended',
  outcome: 'succeeded',
  late: false,
  flags: [],
  tags: [],
  add_time: null,
  started_at: at(0),
  ended_at: at(100),
  expires_at: null,
  resolution: null,
  parent_saga_id: null,
  first_seen_at: at(0),
  last_event_at: at(100),
  duration_ms: 100_000,
  notes: [],
  deployments: [],
  children: [],
  children_counts: {},
  events_url: '',
  activities,
  next_activities_cursor: null,
  ...given,
})

const event = (operation: string, seconds: number, request: SagaEvent['request'] = null): SagaEvent => ({
  seq: seconds,
  operation,
  result: 'recorded',
  activity_id: 'a',
  received_at: at(seconds),
  event_id: null,
  event_time: null,
  event_seq: null,
  attempt: null,
  trace_parent: null,
  trace_url: null,
  parent_saga_id: null,
  payload_size: null,
  request_size: 0,
  request,
})

const rowOf = (given: Partial<SagaActivity>, of: Partial<SagaDetail> = {}, events: SagaEvent[] = []) =>
  timelineOf(saga([activity(given)], of), events, now).rows[0]

describe('the lanes of an activity', () => {
  it('span each phase from start to end, in per cent of the saga', () => {
    const row = rowOf({
      started_at: at(10),
      ended_at: at(30),
      compensation_status: 'Compensated',
      compensating_at: at(60),
      compensated_at: at(100),
    })
    expect(row?.execute.bar).toEqual({ left: 10, width: 20, isOpen: false })
    expect(row?.compensate.bar).toEqual({ left: 60, width: 40, isOpen: false })
  })

  it('are empty for a phase that has not begun', () => {
    expect(rowOf({ execute_status: null })?.execute.bar).toBeUndefined()
    expect(rowOf({})?.compensate.bar).toBeUndefined()
  })

  it('grow until now while the phase runs', () => {
    const open = { status: 'Executing', execute_status: 'Executing', started_at: at(100) } as const
    const timeline = timelineOf(saga([activity(open)], { ended_at: null }), [], now)
    expect(timeline.toMs).toBe(now)
    expect(timeline.rows[0]?.execute.bar).toEqual({ left: 50, width: 50, isOpen: true })
  })

  it('end with the last event when the saga has ended, or nothing runs', () => {
    const open = activity({ status: 'Executing', execute_status: 'Executing' })
    expect(timelineOf(saga([open]), [], now).toMs).toBe(Date.parse(at(100)))
    expect(timelineOf(saga([activity({})], { ended_at: null }), [], now).toMs).toBe(Date.parse(at(100)))
  })

  it('are points when the start was not reported, or times contradict each other', () => {
    const compensated = { compensation_status: 'Compensated', compensated_at: at(40) } as const
    expect(rowOf(compensated)?.compensate.bar).toEqual({ left: 40, width: 0, isOpen: false })
    expect(rowOf({ started_at: at(50), ended_at: at(20) })?.execute.bar).toMatchObject({ left: 50, width: 0 })
  })

  it('show failures and retries at their time, each in its lane', () => {
    const row = rowOf({}, {}, [
      event('ActivityExecuteAborted', 20),
      event('ActivityRetried', 25, { retries: 2 }),
      event('ActivityCompensateAborted', 80),
      event('ActivityRetried', 90, { retries: 1, activity_retry_type: 'Compensate' }),
      event('ActivityEnded', 95),
      { ...event('ActivityExecuteAborted', 50), activity_id: null },
    ])
    expect(row?.execute.marks).toEqual([
      { at: 20, text: 'Attempt failed' },
      { at: 25, text: 'Retried (2)' },
    ])
    expect(row?.compensate.marks).toEqual([
      { at: 80, text: 'Compensation failed' },
      { at: 90, text: 'Retried (1)' },
    ])
  })
})

describe('the deadline of an activity', () => {
  it('is shown when it is within the timeline', () => {
    expect(rowOf({ deadline_at: at(70) })?.deadline).toBe(70)
    expect(rowOf({ deadline_at: at(101) })?.deadline).toBeUndefined()
    expect(rowOf({})?.deadline).toBeUndefined()
  })

  it('is missed when the saga has the flag for this activity', () => {
    const flag = { kind: 'overdue', since: at(1) } as const
    expect(rowOf({}, { flags: [{ ...flag, activity_id: 'a' }] })?.isOverdue).toBe(true)
    expect(rowOf({}, { flags: [{ ...flag, activity_id: 'b' }] })?.isOverdue).toBe(false)
  })
})

it('a saga of a single instant, and one with very many activities, have a timeline', () => {
  const one = activity({})
  const moment = saga([], { last_event_at: at(0), ended_at: at(0) })
  expect(timelineOf(moment, [], now)).toMatchObject({ rows: [], fromMs: Date.parse(at(0)) })
  const many = Array.from({ length: 200_000 }, () => one)
  expect(timelineOf(saga(many), [], now).rows.length).toBe(many.length)
})
