import type { ClaimedDelivery } from '@switchyard/db'
import type { Message } from './send.js'
import { sign, signatureHeader } from './signature.js'

/**
 * The request that a delivery is sent as. `X-Switchyard-Delivery` is the same at every attempt, so that a receiver
 * can tell a repetition; the signature is made anew, because its time must be recent. Webhooks of projects also
 * bear what GitLab's receivers read.
 *
 * @param secret null: what is sent is not signed
 */
export function messageOf(
  delivery: Omit<ClaimedDelivery, 'secret'>,
  secret: string | null,
  now: Date,
): Message {
  return {
    url: delivery.url,
    body: delivery.payload,
    headers: {
      ...delivery.requestHeaders,
      'Content-Type': 'application/json',
      'User-Agent': 'Switchyard-Webhooks',
      'X-Switchyard-Event': delivery.event,
      'X-Switchyard-Delivery': delivery.id,
      ...(secret === null ? {} : { [signatureHeader]: sign(secret, delivery.payload, now) }),
      ...(delivery.scope === 'project' ? gitlabHeaders(delivery.id, secret) : {}),
    },
  }
}

const gitlabHeaders = (id: string, secret: string | null): Record<string, string> => ({
  'X-Gitlab-Event-UUID': id,
  ...(secret === null ? {} : { 'X-Gitlab-Token': secret }),
})
