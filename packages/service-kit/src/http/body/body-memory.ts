import { rateLimited, unavailable } from '@switchyard/domain'

/** How much of the bodies of all requests may be in memory at once. */
export interface MemoryLimits {
  /** Of one sender. */
  senderBytesMax: number
  /** Of all senders. */
  bytesMax: number
  /** The part of it that is reserved for senders that hold at most `littleBytes`. */
  reserveBytes: number
  /** The most that a sender may hold to use the reserve. */
  littleBytes: number
  /** How long a request may wait for memory. */
  waitMs: number
}

/** What the requests of one sender take. */
export interface SenderMemory {
  /**
   * Waits until there is memory for some more bytes.
   *
   * @throws DomainError rate-limited when the sender holds too much for too long, unavailable when everybody does
   */
  take(bytes: number): Promise<void>
  /** Gives back all that was taken. */
  release(): void
}

interface Waiting {
  sender: string
  bytes: number
  start: () => void
}

/**
 * Counts the bytes of request bodies while they are in memory. One sender cannot use up what there is for others, and
 * a few senders of large bodies leave memory for small ones.
 */
export class BodyMemory {
  readonly #limits: MemoryLimits
  readonly #heldBy = new Map<string, number>()
  readonly #waiting = new Set<Waiting>()
  #held = 0

  constructor(limits: MemoryLimits) {
    this.#limits = limits
  }

  /** @param sender a user, or an address */
  open(sender: string): SenderMemory {
    let taken = 0
    return {
      take: async (bytes) => {
        if (!this.#hasRoom(sender, bytes)) await this.#wait(sender, bytes)
        else this.#add(sender, bytes)
        taken += bytes
      },
      release: () => {
        this.#add(sender, -taken)
        taken = 0
        this.#startWaiting()
      },
    }
  }

  #hasRoom(sender: string, bytes: number): boolean {
    const { senderBytesMax, bytesMax, reserveBytes, littleBytes } = this.#limits
    const held = (this.#heldBy.get(sender) ?? 0) + bytes
    const reserved = held > littleBytes ? reserveBytes : 0
    return held <= senderBytesMax && this.#held + bytes <= bytesMax - reserved
  }

  #add(sender: string, bytes: number): void {
    const held = (this.#heldBy.get(sender) ?? 0) + bytes
    if (held > 0) this.#heldBy.set(sender, held)
    else this.#heldBy.delete(sender)
    this.#held += bytes
  }

  #wait(sender: string, bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(waiting)
        reject(this.#refusal(sender, bytes))
      }, this.#limits.waitMs)
      const start = () => {
        clearTimeout(timer)
        this.#add(sender, bytes)
        resolve()
      }
      const waiting = { sender, bytes, start }
      this.#waiting.add(waiting)
    })
  }

  #startWaiting(): void {
    for (const waiting of this.#waiting) {
      if (!this.#hasRoom(waiting.sender, waiting.bytes)) continue
      this.#waiting.delete(waiting)
      waiting.start()
    }
  }

  #refusal(sender: string, bytes: number) {
    const { senderBytesMax, waitMs } = this.#limits
    if ((this.#heldBy.get(sender) ?? 0) + bytes > senderBytesMax) {
      return rateLimited('Too many large requests at once. Try again later.', waitMs)
    }
    return unavailable('too many large requests at once', { retryAfterMs: waitMs })
  }
}
