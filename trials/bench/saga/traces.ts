import { SagaService } from '@switchyard/contracts/saga'
import type { ReportedEvent } from '@switchyard/contracts/saga-ingest'

/** The method of an event and its request. */
export interface TraceEvent {
  method: keyof typeof SagaService
  request: object
}

/** With these payloads, a request about an activity with a payload or errors has about 245 bytes. */
const parameterData = Buffer.from(JSON.stringify({ seat: 4, more: 'x'.repeat(140) }))
const resultData = Buffer.from(JSON.stringify({ seat: 'x'.repeat(180) }))
const errors = `System.TimeoutException: the hotel did not answer\n   at Booking.Hotel.Reserve() ${'x'.repeat(120)}`

interface Ids {
  sagaId: string
  activityId: (activity: number) => string
}

type Step = (ids: Ids) => TraceEvent

const started: Step = ({ sagaId }) => ({ method: 'sagaStarted', request: { sagaId, serviceName: 'booking' } })
const ended: Step = ({ sagaId }) => ({ method: 'sagaEnded', request: { sagaId, serviceName: '' } })
const execute =
  (order: number): Step =>
  ({ sagaId, activityId }) => ({
    method: 'activityExecuteStarted',
    request: {
      activityId: activityId(order),
      sagaId,
      timeOutSeconds: 2,
      parameterData,
      order,
      addTime: '2026-03-09 05:13:08.123',
    },
  })
const done =
  (activity: number): Step =>
  ({ sagaId, activityId }) => ({
    method: 'activityEnded',
    request: { activityId: activityId(activity), sagaId, resultData },
  })
const abort =
  (activity: number): Step =>
  ({ activityId }) => ({
    method: 'activityExecuteAborted',
    request: { activityId: activityId(activity), errors },
  })
const undone =
  (activity: number): Step =>
  ({ activityId }) => ({ method: 'activityCompensated', request: { activityId: activityId(activity) } })

const happy = [started, ...[0, 1, 2].flatMap((index) => [execute(index), done(index)]), ended]
const failing = [
  started,
  ...[0, 1].flatMap((index) => [execute(index), done(index)]),
  execute(2),
  abort(2),
  ...[2, 1, 0].map(undone),
  ended,
]

const idDigits = 19
const stepsOf = (saga: number): Step[] => (saga % 5 === 4 ? failing : happy)

/**
 * Returns the events of a saga with three activities: four of five sagas succeed; in the fifth an activity
 * aborts and all are compensated. Ids are decimal numbers of 19 digits.
 *
 * @param runDigits the first seven digits, which are unique to the run
 */
export function traceOf(saga: number, runDigits: string): TraceEvent[] {
  const id = (number: number) => `${runDigits}${String(number).padStart(idDigits - 7, '0')}`
  const ids = { sagaId: id(saga * 10), activityId: (activity: number) => id(saga * 10 + 1 + activity) }
  return stepsOf(saga).map((step) => step(ids))
}

/** Returns the event in the form of a batch. */
export const reportedEvent = ({ method, request }: TraceEvent): ReportedEvent => ({
  id: '',
  time: undefined,
  tags: [],
  tenant: '',
  traceParent: '',
  parentSagaId: '',
  [method]: request,
})

/** An encoded request into which {@link fillIds} writes ids. */
export interface Template {
  path: string
  message: Buffer
  /** Position of the saga's id; -1 without one. */
  sagaIdAt: number
  activityIdAt: number
  /** Index of the saga's activity in the request. */
  activity: number
}

const sagaPlaceholder = 'S'.repeat(idDigits)
const activityPlaceholders = ['A', 'B', 'C'].map((letter) => letter.repeat(idDigits))

function templateOf(step: Step): Template {
  const { method, request } = step({
    sagaId: sagaPlaceholder,
    activityId: (activity) => activityPlaceholders[activity] ?? '',
  })
  const serialize: (message: never) => Buffer = SagaService[method].requestSerialize
  const message = serialize({ status: '', retries: 0, activityRetryType: 0, ...request } as never)
  const activity = activityPlaceholders.findIndex((placeholder) => message.includes(placeholder))
  const activityIdAt = activity === -1 ? -1 : message.indexOf(activityPlaceholders[activity] ?? '')
  return {
    path: SagaService[method].path,
    message,
    sagaIdAt: message.indexOf(sagaPlaceholder),
    activityIdAt,
    activity,
  }
}

const happyTemplates = happy.map(templateOf)
const failingTemplates = failing.map(templateOf)

/** Returns the encoded requests of {@link traceOf}. */
export const templatesOf = (saga: number): Template[] =>
  stepsOf(saga) === failing ? failingTemplates : happyTemplates

/** Writes a request with the ids of a saga. */
export function fillIds(
  target: Buffer,
  at: number,
  { message, sagaIdAt, activityIdAt, activity }: Template,
  runDigits: string,
  saga: number,
): void {
  message.copy(target, at)
  if (sagaIdAt >= 0) writeId(target, at + sagaIdAt, runDigits, saga * 10)
  if (activityIdAt >= 0) writeId(target, at + activityIdAt, runDigits, saga * 10 + 1 + activity)
}

function writeId(target: Buffer, at: number, runDigits: string, number: number): void {
  target.write(runDigits, at, 7, 'latin1')
  let rest = number
  for (let index = at + idDigits - 1; index >= at + 7; index -= 1) {
    target[index] = 48 + (rest % 10)
    rest = Math.floor(rest / 10)
  }
}
