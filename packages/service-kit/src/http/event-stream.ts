import { Slots } from '../slots.js'
import { tokenKey, tokenOf } from './authentication.js'
import type { Call } from './endpoint.js'
import { sessionsKey } from './sender.js'
import { senderAddress } from './sender-address.js'

/** Headers of a stream of server-sent events. */
export const eventStreamHeaders = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // A proxy that compresses the stream would hold events back.
  'Cache-Control': 'no-cache, no-transform',
  // nginx would collect the whole answer before it sends any of it.
  'X-Accel-Buffering': 'no',
}

export interface StreamPlacesOptions {
  /** Streams that the process serves at once. */
  max: number
  /** Streams that one token (or all its sessions), and that one address, may have at once. */
  perSenderMax: number
}

/** Counts open streams, so that a single sender cannot take every place. */
export interface StreamPlaces {
  /**
   * Takes a place until the connection closes. A refusal carries `Retry-After`.
   *
   * @throws DomainError rate-limited when the token or the address has its share; unavailable when every place is taken
   */
  take(call: Pick<Call, 'caller' | 'raw'>): void
}

const retryAfterMs = 30_000
const tooMany = 'Too many streams of this token or address are open. Close one, or try again later.'

export function createStreamPlaces({ max, perSenderMax }: StreamPlacesOptions): StreamPlaces {
  const slots = new Slots(
    { total: max, perSender: perSenderMax, perGroup: perSenderMax },
    {
      sender: tooMany,
      group: tooMany,
      everybody: 'too many streams are open',
      retryAfterMs,
    },
  )
  return {
    take({ caller, raw: { request, response } }) {
      // A response that is closed already would never give its slot back.
      if (response.closed) return
      const address = `address ${senderAddress(request.ip)}`
      const token = tokenOf(request.headers)
      const holder = token === null ? caller && sessionsKey(caller) : `token ${tokenKey(token)}`
      response.once('close', slots.takeAtOnce({ sender: holder ?? address, group: address }))
    },
  }
}
