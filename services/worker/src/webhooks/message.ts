import type { RequestSecrets } from '@switchyard/webhooks'
import { sign, signatureHeader } from '@switchyard/webhooks/signature'
import type { ClaimedDelivery } from './delivery-store.js'
import type { Message } from './send.js'

/**
 * Returns the HTTP request of a delivery. `X-Switchyard-Delivery` is equal for all attempts, so that a
 * receiver recognizes repetitions. Each attempt has a new signature, because the time of a signature must be
 * recent. Webhooks of projects also have GitLab's headers.
 */
export function messageOf(
  delivery: ClaimedDelivery,
  { signing, headers }: RequestSecrets,
  now: Date,
): Message {
  // The stored header names the trace of the event. The tracing of the process adds one for this attempt.
  const { traceparent: _, ...requestHeaders } = delivery.requestHeaders
  return {
    url: delivery.url,
    body: delivery.payload,
    verifyTls: delivery.verifyTls,
    headers: {
      ...headers,
      'Content-Type': 'application/json',
      ...requestHeaders,
      'User-Agent': 'Switchyard-Webhooks',
      'X-Switchyard-Event': delivery.event,
      'X-Switchyard-Delivery': delivery.id,
      ...(signing.length === 0 ? {} : { [signatureHeader]: sign(signing, delivery.payload, now) }),
      ...(delivery.scope === 'project' ? gitlabHeaders(delivery.id, signing[0]) : {}),
    },
  }
}

const gitlabHeaders = (id: string, secret: string | undefined): Record<string, string> => ({
  'X-Gitlab-Event-UUID': id,
  ...(secret === undefined ? {} : { 'X-Gitlab-Token': secret }),
})
