import type { EncodedEvent } from '../../../packages/saga-client/src/events.js'
import { encoders } from '../../../packages/saga-client/src/events.js'

export type Method = keyof typeof encoders

/** One report of a saga, as a client sends it and as bytes. */
export interface Step {
  method: Method
  event: { sagaId: string }
  /** A unique key of the event in the log: its subject and its operation. */
  key: string
  encode(): EncodedEvent
}

export interface Trace {
  steps: Step[]
  /** The final status and outcome, in whatever order events arrive. */
  final: string
}

/**
 * Returns the reports of an orchestrator about one saga: it succeeds, is compensated, is retried, or fails
 * finally.
 */
export function traceOf(sagaId: string, number: number): Trace {
  const step = <Name extends Method>(
    method: Name,
    fields: Omit<Parameters<(typeof encoders)[Name]>[0], 'sagaId'> & { activityId?: string },
  ): Step => {
    const event = { sagaId, ...fields }
    const operation = `${method.charAt(0).toUpperCase()}${method.slice(1)}`
    const encode = encoders[method] as (event: object, serviceName: string) => EncodedEvent
    return {
      method,
      event,
      key: `${event.activityId ?? sagaId} ${operation}`,
      encode: () => encode(event, 'booking'),
    }
  }
  const [a, b] = [{ activityId: `${sagaId}-a` }, { activityId: `${sagaId}-b` }]
  const ended = step('sagaEnded', {})
  const begun = [
    step('sagaStarted', {}),
    step('activityExecuteStarted', { ...a, order: 0, timeOutSeconds: 30, parameter: { seats: 2, number } }),
    step('activityEnded', { ...a, result: { seat: '4A' } }),
    step('activityExecuteStarted', { ...b, order: 1, parameter: 'x'.repeat(number % 300) }),
  ]
  const failed = step('activityExecuteAborted', { ...b, error: 'TimeoutException: no answer of the bank' })
  const undone = [step('activityCompensated', b), step('activityCompensated', a), ended]
  const traces: [Trace, ...Trace[]] = [
    { final: 'Ended succeeded', steps: [...begun, step('activityEnded', { ...b, result: 'paid' }), ended] },
    { final: 'Ended compensated', steps: [...begun, failed, ...undone] },
    {
      final: 'Ended succeeded',
      steps: [
        ...begun,
        failed,
        step('activityRetried', { ...b, phase: 'execute', retries: 1, attempt: 1 }),
        step('activityEnded', { ...b, result: 'paid', attempt: 1 }),
        ended,
      ],
    },
    {
      final: 'Ended compensated',
      steps: [...begun, step('activityExecuteOvertime', { ...b, error: 'slow' }), ...undone],
    },
    {
      final: 'Ended compensated',
      steps: [...begun, step('activityRevoked', b), step('activityCompensated', a), ended],
    },
    {
      final: 'Error null',
      steps: [...begun, failed, step('activityCompensateAborted', { ...b, error: 'gone', final: true })],
    },
  ]
  return traces[number % traces.length] ?? traces[0]
}
