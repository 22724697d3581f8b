import { rateLimited, unavailable } from '@switchyard/domain'
import type { Call } from './endpoint.js'
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
  /** Streams that one user, and one address for requests without a user, may have at once. */
  perSenderMax: number
}

/** Counts open streams, so that a single sender cannot take every place. */
export interface StreamPlaces {
  /** Open streams. */
  readonly taken: number
  /**
   * Takes a place until the connection closes. A refusal carries `Retry-After`.
   *
   * @throws DomainError rate-limited when the user or the address has its share; unavailable when every place is taken
   */
  take(call: Pick<Call, 'caller' | 'raw'>): void
}

const retryAfterSeconds = 30

export function createStreamPlaces({ max, perSenderMax }: StreamPlacesOptions): StreamPlaces {
  const takenBy = new Map<string, number>()
  let taken = 0

  function refusal(sender: string): Error | null {
    if ((takenBy.get(sender) ?? 0) >= perSenderMax) {
      const detail = 'Too many streams of this user or address are open. Close one, or try again later.'
      return rateLimited(detail, retryAfterSeconds * 1000)
    }
    return taken >= max ? unavailable('too many streams are open') : null
  }

  function count(sender: string, change: 1 | -1): void {
    taken += change
    const streams = (takenBy.get(sender) ?? 0) + change
    if (streams === 0) takenBy.delete(sender)
    else takenBy.set(sender, streams)
  }

  return {
    get taken() {
      return taken
    },
    take({ caller, raw: { request, response } }) {
      // Who is signed in shares no limit with others at the same address, such as that of a proxy.
      const sender = caller ? `user ${caller.user.id}` : `address ${senderAddress(request.ip)}`
      const refused = refusal(sender)
      if (refused) {
        response.set('Retry-After', String(retryAfterSeconds))
        throw refused
      }
      // A response that is closed already would never release the place.
      if (response.closed) return
      count(sender, 1)
      response.once('close', () => count(sender, -1))
    },
  }
}
