import type { Database } from '@switchyard/db'
import { dayMs } from '@switchyard/domain'
import { tracing } from '@switchyard/service-kit/observability'
import {
  type RequestSecrets,
  readRequestSecrets,
  type SecretBox,
  UnreadableSecret,
} from '@switchyard/webhooks'
import {
  type AttemptRecord,
  type ClaimedDelivery,
  claimDelivery,
  disableWebhook,
  postponeDeliveries,
  recordAttempt,
  type WebhookHealth,
} from './delivery-store.js'
import { messageOf } from './message.js'
import { retryAfterMs, retryDelayMs } from './retry-delay.js'
import type { Sender, SendResult } from './send.js'

/** The result of one attempt, for logs and metrics. */
export interface Delivered {
  deliveryId: string
  webhookId: number
  scope: ClaimedDelivery['scope']
  host: string
  /** `failed` is tried again. The stored state `failed` is `given_up` here. */
  result: 'succeeded' | 'failed' | 'given_up'
  /** The reason why this attempt disabled the webhook; null when it did not. */
  disabled: string | null
}

interface DeliverOptions {
  database: Database
  sender: Sender
  secretBox: SecretBox
  /** Returns whether another delivery may begin. */
  mayContinue: () => boolean
  onDelivered: (delivered: Delivered) => void
}

/** Lease of a delivery. It is longer than an attempt takes, including the recording of its result. */
const leaseMs = 30_000
/** Most simultaneous requests to one host. */
const requestsAtOnce = 4
/** Webhooks without an answer after which a host counts as unreachable. */
const silentMax = 4
/** A webhook is disabled after it has failed for this long, and at least this often. */
const failingMsMax = 5 * dayMs
const failuresMin = 20
const gone = 410

/**
 * Sends the due deliveries of a host until none is left. A webhook that does not answer gets no more, and
 * when several do not answer, the whole host gets no more, because each of them would cost a time-out. The
 * next dispatch tries them again.
 *
 * A delivery is sent at least once. It is sent again when the process dies before it has recorded the result.
 */
export async function deliverToHost(host: string, options: DeliverOptions): Promise<void> {
  const busy: number[] = []
  const silent = new Set<number>()
  const lanes = Array.from({ length: requestsAtOnce }, async () => {
    while (silent.size < silentMax && options.mayContinue()) {
      const turn = { host, busy, silent: [...silent] }
      const delivery = await claimDelivery(options.database, turn, leaseMs)
      if (delivery === null) return
      const { webhookId } = delivery
      busy.push(webhookId)
      const isSilent = await deliver(delivery, options).finally(() => busy.splice(busy.indexOf(webhookId), 1))
      if (isSilent) silent.add(webhookId)
    }
  })
  // When one of them fails, the others are still awaited.
  const ends = await Promise.allSettled(lanes)
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed) throw failed.reason
}

/**
 * Sends a delivery and records the result.
 *
 * @returns whether there was no answer
 */
function deliver(delivery: ClaimedDelivery, options: DeliverOptions): Promise<boolean> {
  const work = () => attempt(delivery, options)
  const traces = tracing()
  return traces ? traces.within(delivery.requestHeaders, 'deliver webhook', work) : work()
}

async function attempt(delivery: ClaimedDelivery, options: DeliverOptions): Promise<boolean> {
  const { database, onDelivered } = options
  const { isSent, result } = await send(delivery, options)
  const pauseMs = result.error === null ? null : retryAfterMs(result.headers, new Date())
  const record = attemptOf(delivery, result, pauseMs)
  const health = await recordAttempt(database, delivery, record)
  if (pauseMs !== null) await postponeDeliveries(database, delivery.webhookId, pauseMs)
  const disabled = health === null ? null : reasonToDisable(result, health)
  if (disabled !== null) await disableWebhook(database, delivery.webhookId, disabled)
  onDelivered({
    deliveryId: delivery.id,
    webhookId: delivery.webhookId,
    scope: delivery.scope,
    host: delivery.host,
    result: resultOf(record.state),
    disabled,
  })
  return isSent && result.status === null
}

/**
 * Sends a delivery. Without a readable secret it sends nothing, because the receiver could not verify the
 * delivery.
 */
async function send(delivery: ClaimedDelivery, { sender, secretBox }: DeliverOptions) {
  let secrets: RequestSecrets
  try {
    secrets = readRequestSecrets(delivery, secretBox)
  } catch (error) {
    if (!(error instanceof UnreadableSecret)) throw error
    const result: SendResult = { status: null, headers: {}, body: '', error: error.message, durationMs: 0 }
    return { isSent: false, result }
  }
  return { isSent: true, result: await sender.send(messageOf(delivery, secrets, new Date())) }
}

const resultOf = (state: AttemptRecord['state']): Delivered['result'] => {
  if (state === 'succeeded') return state
  return state === 'failed' ? 'given_up' : 'failed'
}

function attemptOf({ attempts }: ClaimedDelivery, result: SendResult, pauseMs: number | null): AttemptRecord {
  if (result.error === null) return { ...result, state: 'succeeded', retryDelayMs: null }
  const delayMs = result.status === gone ? null : retryDelayMs(attempts)
  if (delayMs === null) return { ...result, state: 'failed', retryDelayMs: null }
  return { ...result, state: 'pending', retryDelayMs: Math.max(delayMs, pauseMs ?? 0) }
}

/**
 * Returns the reason to disable a webhook: its target answers 410 Gone, or every delivery has failed for
 * days.
 */
function reasonToDisable({ status }: SendResult, health: WebhookHealth): string | null {
  if (status === gone) return 'the target answered 410 Gone'
  const { failingSince, consecutiveFailures } = health
  if (failingSince === null || consecutiveFailures < failuresMin) return null
  if (Date.now() - failingSince.getTime() < failingMsMax) return null
  return `no delivery has succeeded since ${failingSince.toISOString()}`
}
