import { Slots } from '../slots.js'
import type { Call } from './endpoint.js'
import { senderKey } from './sender.js'

export interface StreamSlotsOptions {
  /** Most streams of the process. */
  max: number
  /** Most streams of one user, or of one address for requests without a user. */
  perSenderMax: number
}

/** Counts of open streams, which keep a single sender from taking every slot. */
export interface StreamSlots {
  /**
   * Takes a slot until the connection closes. A refusal has the header `Retry-After`.
   *
   * @throws DomainError rate-limited when the user or the address has used its share; unavailable when every
   * slot is taken
   */
  take(call: Pick<Call, 'caller' | 'raw'>): void
}

const retryAfterMs = 30_000

export function createStreamSlots({ max, perSenderMax }: StreamSlotsOptions): StreamSlots {
  const slots = new Slots(
    { total: max, perSender: perSenderMax },
    {
      sender: 'Too many streams of this user or address are open. Close one, or try again later.',
      everybody: 'too many streams are open',
      retryAfterMs,
    },
  )
  return {
    take(call) {
      // A response that is closed already would never return its slot.
      if (call.raw.response.closed) return
      // A signed-in user shares no limit with others at the same address, such as that of a proxy.
      call.raw.response.once('close', slots.takeAtOnce({ sender: senderKey(call) }))
    },
  }
}
