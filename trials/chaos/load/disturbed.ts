import { setTimeout as delay } from 'node:timers/promises'
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
  /** The first part of the sagas' ids. */
  prefix: string
  sagas: number
  callers: number
  /** Shares of the events that another caller sends again, or that are sent after some that follow them. */
  duplicates: number
  reordered: number
  /** Returns a number from 0 to 1, another one each time. */
  chance: () => number
}

export interface Disturbed extends Reported {
  duplicates: number
  reordered: number
}

interface Call {
  step: Step
  operation: Operation
  bytes: Buffer
  /** Unset: the reporter recognizes the event by its content. */
  eventId: string | undefined
}

type Grpc = ReturnType<typeof connect>

/**
 * Reports sagas by several parallel callers, like transports that repeat and reorder; each caller uses one of
 * `addresses`, and retries until there is an answer.
 */
export async function reportDisturbed(addresses: string[], disturbance: Disturbance): Promise<Disturbed> {
  const { prefix, sagas, callers } = disturbance
  const disturbed: Disturbed = { results: new Map(), finals: new Map(), duplicates: 0, reordered: 0 }
  const calls: Call[] = []
  for (let saga = 0; saga < sagas; saga += 1) {
    const sagaId = `${prefix}-${saga}`
    const { steps, final } = traceOf(sagaId, saga)
    disturbed.finals.set(sagaId, final)
    calls.push(...disturb(steps.map(callOf(saga)), disturbance, disturbed))
  }
  const connections = Array.from({ length: callers }, (_, caller) =>
    connect(addresses[caller % addresses.length] ?? ''),
  )
  const queue = calls.values()
  const send = async (grpc: Grpc) => {
    for (const call of queue) {
      const result = await report(grpc, call)
      const { key } = call.step
      // A refusal is never replaced by another answer.
      if (disturbed.results.get(key)?.outcome !== 'refused') disturbed.results.set(key, result)
    }
  }
  // Each caller has several parallel calls.
  await Promise.all(connections.flatMap((grpc) => Array.from({ length: 8 }, () => send(grpc))))
  for (const grpc of connections) grpc.close()
  return disturbed
}

async function report(grpc: Grpc, { operation, bytes, eventId }: Call): Promise<ReportResult> {
  const metadata: Record<string, string> = eventId === undefined ? {} : { 'x-event-id': eventId }
  for (;;) {
    const answer = await grpc.send(operation, bytes, { metadata, deadlineMs: 2000 }).catch(() => null)
    if (answer) {
      const { isSuccess, message, errors } = answer
      return isSuccess ? { outcome: 'stored', message } : { outcome: 'refused', reason: errors }
    }
    await delay(50)
  }
}

const callOf =
  (saga: number) =>
  (step: Step): Call => {
    const { operation: method, request } = step.encode()
    const operation = `${method.charAt(0).toUpperCase()}${method.slice(1)}` as Operation
    const bytes = encode(operation, request as Fields)
    return { step, operation, bytes, eventId: saga % 2 === 0 ? step.key : undefined }
  }

function disturb(calls: Call[], { duplicates, reordered, chance }: Disturbance, counts: Disturbed): Call[] {
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
