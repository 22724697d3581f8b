import type { SagaActivity, SagaDetail, SagaEvent } from '../../generated/types.gen'

/** A part of a lane from its start to its end, in per cent of the whole timeline. */
export interface Bar {
  left: number
  width: number
  isOpen: boolean
}

export interface Lane {
  status: SagaActivity['execute_status']
  /** Counted from 1; 0 until the lane has begun. */
  attempts: number
  durationMs: number | null
  bar: Bar | undefined
  /** Times in the lane at which an attempt failed or the next one began, in per cent. */
  marks: { at: number; text: string }[]
}

export interface TimelineRow {
  activity: SagaActivity
  execute: Lane
  compensate: Lane
  /** The deadline of the activity, in per cent; undefined when it is outside of the timeline. */
  deadline: number | undefined
  isOverdue: boolean
}

export interface Timeline {
  fromMs: number
  toMs: number
  rows: TimelineRow[]
}

const openStates = new Set<string | null>(['Executing', 'Compensating'])

/**
 * Returns the lanes of all activities on one scale, from the first to the last event, or to now while the
 * saga runs.
 */
export function timelineOf(saga: SagaDetail, events: readonly SagaEvent[], now: number): Timeline {
  const isRunning =
    saga.ended_at === null &&
    saga.activities.some(({ execute_status, compensation_status }) =>
      openStates.has(compensation_status ?? execute_status),
    )
  const times = [
    saga.started_at ?? saga.first_seen_at,
    saga.last_event_at,
    ...saga.activities.flatMap(({ first_seen_at, last_event_at }) => [first_seen_at, last_event_at]),
  ].map((text) => Date.parse(text))
  const fromMs = minOf(times)
  const toMs = Math.max(fromMs + 1, maxOf(times), isRunning ? now : 0)
  const scale = (text: string) => percent((Date.parse(text) - fromMs) / (toMs - fromMs))
  const marks = marksByActivity(events)
  const overdue = new Set(
    saga.flags.flatMap(({ kind, activity_id }) => (kind === 'overdue' && activity_id ? [activity_id] : [])),
  )
  const rows = saga.activities.map((activity): TimelineRow => {
    const own = marks.get(activity.activity_id)
    const { deadline_at } = activity
    return {
      activity,
      execute: executeLane(activity, scale, own?.execute ?? []),
      compensate: compensateLane(activity, scale, own?.compensate ?? []),
      deadline: deadline_at && Date.parse(deadline_at) <= toMs ? scale(deadline_at) : undefined,
      isOverdue: overdue.has(activity.activity_id),
    }
  })
  return { fromMs, toMs, rows }
}

// A saga may have more activities than a call accepts arguments.
const minOf = (values: number[]) => values.reduce((least, value) => Math.min(least, value))
const maxOf = (values: number[]) => values.reduce((most, value) => Math.max(most, value))
const percent = (part: number) => Math.min(100, Math.max(0, part * 100))

type Scale = (text: string) => number
interface Mark {
  at: string
  text: string
}

function executeLane(activity: SagaActivity, scale: Scale, marks: Mark[]): Lane {
  const { execute_status: status, started_at, first_seen_at } = activity
  const ends = {
    Executed: activity.ended_at,
    Overtime: activity.overtime_at,
    ExecuteAborted: activity.aborted_at,
    Revoked: activity.revoked_at,
  } as Record<string, string | null>
  const from = started_at ?? first_seen_at
  return {
    status,
    attempts: activity.execute_attempts,
    durationMs: activity.execute_duration_ms,
    bar: status === null ? undefined : barOf(scale, from, ends[status] ?? null, openStates.has(status)),
    marks: placed(marks, scale),
  }
}

function compensateLane(activity: SagaActivity, scale: Scale, marks: Mark[]): Lane {
  const { compensation_status: status, compensating_at } = activity
  const end = status === 'Compensated' ? activity.compensated_at : activity.compensate_aborted_at
  const from = compensating_at ?? end
  return {
    status,
    attempts: activity.compensate_attempts,
    durationMs: activity.compensate_duration_ms,
    bar: status === null || from === null ? undefined : barOf(scale, from, end, openStates.has(status)),
    marks: placed(marks, scale),
  }
}

function barOf(scale: Scale, from: string, to: string | null, isOpen: boolean): Bar {
  const left = scale(from)
  const right = isOpen || to === null ? (isOpen ? 100 : left) : Math.max(left, scale(to))
  return { left, width: right - left, isOpen }
}

const placed = (marks: Mark[], scale: Scale) => marks.map(({ at, text }) => ({ at: scale(at), text }))

const failures: Record<string, { lane: 'execute' | 'compensate'; text: string }> = {
  ActivityExecuteAborted: { lane: 'execute', text: 'Attempt failed' },
  ActivityExecuteOvertime: { lane: 'execute', text: 'Took too long' },
  ActivityCompensateAborted: { lane: 'compensate', text: 'Compensation failed' },
}

function laneOfRetry({ request }: SagaEvent): 'execute' | 'compensate' {
  const type = request?.activity_retry_type
  return type === 1 || type === 'Compensate' ? 'compensate' : 'execute'
}

function markOf(event: SagaEvent): { lane: 'execute' | 'compensate'; text: string } | undefined {
  if (event.operation !== 'ActivityRetried') return failures[event.operation]
  return { lane: laneOfRetry(event), text: `Retried (${String(event.request?.retries ?? '?')})` }
}

function marksByActivity(events: readonly SagaEvent[]) {
  const marks = new Map<string, { execute: Mark[]; compensate: Mark[] }>()
  for (const event of events) {
    const mark = markOf(event)
    if (!mark || event.activity_id === null) continue
    const own = marks.get(event.activity_id) ?? { execute: [], compensate: [] }
    own[mark.lane].push({ at: event.received_at, text: mark.text })
    marks.set(event.activity_id, own)
  }
  return marks
}
