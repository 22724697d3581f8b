import { SagaService } from '@switchyard/contracts/saga'

/** Bytes of every request about an activity; those about a saga have nothing that could fill them. */
export const messageBytes = 245
const idDigits = 19

type Operation = keyof typeof SagaService
type Rpc = Capitalize<Operation>

/** A request whose ids are put in by {@link fillIds}. */
export interface Template {
  rpc: Rpc
  path: string
  message: Buffer
  sagaIdAt: number
  activityIdAt: number
  /** Which of the saga's activities it is about. */
  activity: number
}

const sagaPlace = 'S'.repeat(idDigits)
const activityPlace = 'A'.repeat(idDigits)
const errors =
  'System.TimeoutException: the hotel did not answer\n   at Booking.Hotel.Reserve() in Hotel.cs:line 42'

type Fields = Record<string, unknown>

function template(operation: Operation, activity: number, fields: Fields, filler?: string): Template {
  const { requestSerialize, path } = SagaService[operation] as unknown as {
    path: string
    requestSerialize(message: Fields): Buffer
  }
  const blank = { status: '', retries: 0, activityRetryType: 0 }
  let message = requestSerialize({ ...blank, ...fields })
  if (filler) {
    const missing = messageBytes - message.length
    const filled = (bytes: number) => {
      const value = fields[filler]
      const more = 'x'.repeat(Math.max(0, bytes))
      return requestSerialize({
        ...blank,
        ...fields,
        [filler]:
          typeof value === 'string' ? value + more : Buffer.concat([value as Buffer, Buffer.from(more)]),
      })
    }
    // A longer field may need a longer length before it.
    for (let bytes = missing; message.length !== messageBytes; bytes -= 1) message = filled(bytes)
  }
  return {
    rpc: path.slice(path.lastIndexOf('/') + 1) as Rpc,
    path,
    message: Buffer.from(message),
    sagaIdAt: message.indexOf(sagaPlace),
    activityIdAt: message.indexOf(activityPlace),
    activity,
  }
}

const started = template('sagaStarted', 0, { sagaId: sagaPlace, serviceName: 'booking' })
const ended = template('sagaEnded', 0, { sagaId: sagaPlace, serviceName: '' })
const execute = (activity: number) =>
  template(
    'activityExecuteStarted',
    activity,
    {
      activityId: activityPlace,
      sagaId: sagaPlace,
      timeOutSeconds: 2,
      order: activity,
      addTime: '2026-03-09 05:13:08.123',
      parameterData: Buffer.from('{"seat":4}'),
    },
    'parameterData',
  )
const done = (activity: number) =>
  template(
    'activityEnded',
    activity,
    { activityId: activityPlace, sagaId: sagaPlace, resultData: Buffer.from('{}') },
    'resultData',
  )
const abort = (activity: number) =>
  template('activityExecuteAborted', activity, { activityId: activityPlace, errors }, 'errors')
const undone = (activity: number) => template('activityCompensated', activity, { activityId: activityPlace })

/** Four of five sagas succeed; in the fifth an activity aborts and all are compensated. */
export const happy = [started, ...[0, 1, 2].flatMap((index) => [execute(index), done(index)]), ended]
export const failing = [
  started,
  ...[0, 1].flatMap((index) => [execute(index), done(index)]),
  execute(2),
  abort(2),
  ...[2, 1, 0].map(undone),
  ended,
]

export const traceOf = (saga: number) => (saga % 5 === 4 ? failing : happy)

/** Writes the ids of a saga's request; ids are decimal numbers of 19 digits, as snowflakes are. */
export function fillIds(
  target: Buffer,
  at: number,
  template: Template,
  runDigits: string,
  saga: number,
): void {
  template.message.copy(target, at)
  if (template.sagaIdAt >= 0) writeId(target, at + template.sagaIdAt, runDigits, saga * 10)
  if (template.activityIdAt >= 0) {
    writeId(target, at + template.activityIdAt, runDigits, saga * 10 + 1 + template.activity)
  }
}

/** @param runDigits the seven digits that no other run has */
function writeId(target: Buffer, at: number, runDigits: string, number: number): void {
  target.write(runDigits, at, 7, 'latin1')
  let rest = number
  for (let index = at + idDigits - 1; index >= at + 7; index -= 1) {
    target[index] = 48 + (rest % 10)
    rest = Math.floor(rest / 10)
  }
}
