import { Slots } from '../../slots.js'

const mebibyte = 1024 * 1024

/**
 * A sender may send a commit of 300 MB and smaller bodies at once. Two such commits still leave memory for
 * small bodies.
 */
const limits = {
  perSender: 320 * mebibyte,
  total: 768 * mebibyte,
  reservedShare: 1 / 6,
  reservedHeldMax: 16 * mebibyte,
  waitMs: 30_000,
}

/** Creates the slots for bytes of the bodies of all requests. */
export const createBodyMemory = (): Slots =>
  new Slots(limits, {
    sender: 'Too many large requests at once. Try again later.',
    everybody: 'too many large requests at once',
    retryAfterMs: limits.waitMs,
  })

/** The part of the memory for bodies that a request holds. */
export interface BodyMemory {
  /**
   * Waits until there is memory for more bytes.
   *
   * @throws DomainError rate-limited when the sender holds too much for too long, unavailable when no sender
   * can get memory
   */
  take(bytes: number): Promise<void>
  release(): void
}

/**
 * Opens the share of a request.
 *
 * @param memory of the bodies of all requests, in bytes
 * @param sender a user, or an address
 */
export function openBodyMemory(memory: Slots, sender: string): BodyMemory {
  const taken: (() => void)[] = []
  let isReleased = false
  return {
    take: async (bytes) => {
      const giveBack = await memory.take({ sender, size: bytes })
      if (isReleased) {
        giveBack()
        throw new Error('the request has ended')
      }
      taken.push(giveBack)
    },
    release: () => {
      isReleased = true
      for (const giveBack of taken.splice(0)) giveBack()
    },
  }
}
