import type { Slots } from '../../slots.js'

/** What the body of one request takes of the memory for the bodies of all requests. */
export interface SenderMemory {
  /**
   * Waits until there is memory for some more bytes.
   *
   * @throws DomainError rate-limited when the sender holds too much for too long, unavailable when everybody does
   */
  take(bytes: number): Promise<void>
  release(): void
}

/**
 * @param memory of the bodies of all requests, in bytes
 * @param sender a user, or an address
 */
export function openMemory(memory: Slots, sender: string): SenderMemory {
  const taken: (() => void)[] = []
  return {
    take: async (bytes) => {
      taken.push(await memory.take({ sender, size: bytes }))
    },
    release: () => {
      for (const giveBack of taken.splice(0)) giveBack()
    },
  }
}
