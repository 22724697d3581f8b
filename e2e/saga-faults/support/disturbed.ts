import type { ReportResult } from '../../../packages/saga-client/src/index.js'
import {
  connect,
  encode,
  type Fields,
  type Operation,
} from '../../../services/saga-reporter/test/grpc-client.js'
import { type Step, traceOf } from './traces.js'
import type { Reported } from './traffic.js'

export interface Disturbance {
  sagas: number
  callers: number
  /** Shares of the events that are sent once more by another caller, or after some that follow them. */
  duplicates: number
  reordered: number
}

export interface Disturbed extends Reported {
  duplicates: number
  reordered: number
}

interface Call {
  step: Step
  operation: Operation
  bytes: Buffer
  /** None: the reporter knows it by its content. */
  eventId: string | undefined
}

/** Reports sagas by several callers at once, as transports that repeat and overtake do; each caller on one of `ports`. */
export async function reportDisturbed(ports: number[], disturbance: Disturbance): Promise<Disturbed> {
  const { sagas, callers } = disturbance
  const disturbed: Disturbed = { results: new Map(), finals: new Map(), duplicates: 0, reordered: 0 }
  const calls: Call[] = []
  for (let saga = 0; saga < sagas; saga += 1) {
    const sagaId = `saga-${saga}`
    const { steps, final } = traceOf(sagaId, saga)
    disturbed.finals.set(sagaId, final)
    calls.push(...disturb(steps.map(callOf(saga)), disturbance, disturbed))
  }
  const connections = Array.from({ length: callers }, (_, caller) =>
    connect(ports[caller % ports.length] ?? 0),
  )
  const queue = calls.values()
  const send = async (grpc: (typeof connections)[number]) => {
    for (const { step, operation, bytes, eventId } of queue) {
      const metadata: Record<string, string> = eventId === undefined ? {} : { 'x-event-id': eventId }
      const { isSuccess, message, errors } = await grpc.send(operation, bytes, { metadata })
      const result: ReportResult = isSuccess
        ? { outcome: 'stored', message }
        : { outcome: 'refused', reason: errors }
      // A refusal is never hidden by another answer.
      if (disturbed.results.get(step.key)?.outcome !== 'refused') disturbed.results.set(step.key, result)
    }
  }
  // Several calls of each caller are under way at once.
  await Promise.all(connections.flatMap((grpc) => Array.from({ length: 8 }, () => send(grpc))))
  for (const grpc of connections) grpc.close()
  return disturbed
}

const callOf =
  (saga: number) =>
  (step: Step): Call => {
    const { operation: method, request } = step.encode()
    const operation = `${method.charAt(0).toUpperCase()}${method.slice(1)}` as Operation
    const bytes = encode(operation, request as Fields)
    return { step, operation, bytes, eventId: saga % 2 === 0 ? step.key : undefined }
  }

/** The same order of chances in every run. */
let chances = 1
function chance(): number {
  chances = (chances * 48_271) % 2_147_483_647
  return chances / 2_147_483_647
}

function disturb(calls: Call[], { duplicates, reordered }: Disturbance, counts: Disturbed): Call[] {
  const disturbed: Call[] = []
  for (const call of calls) {
    const overtakes = chance() < reordered && disturbed.length > 0
    if (overtakes) {
      counts.reordered += 1
      disturbed.splice(Math.floor(chance() * disturbed.length), 0, call)
    } else disturbed.push(call)
    if (chance() >= duplicates) continue
    counts.duplicates += 1
    disturbed.push(call)
  }
  return disturbed
}
