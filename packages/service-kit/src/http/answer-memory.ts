import type { Response } from 'express'
import { Slots } from '../slots.js'

const mebibyte = 1024 * 1024

/** Smallest answer that is counted. Smaller answers are bounded by the number of connections. */
const countedBytesMin = mebibyte

/** A client that reads nothing of a large answer for this time is disconnected. */
const stallMs = 300_000

/** Few claims wait, because the body of a waiting request is in memory already. */
const limits = {
  total: 512 * mebibyte,
  perSender: 160 * mebibyte,
  reservedShare: 0.25,
  reservedHeldMax: 16 * mebibyte,
  waitMs: 30_000,
  waitingMax: 20,
  waitingPerSenderMax: 4,
}

/** Creates the slots for bytes of answers that clients have not read yet. */
export const createAnswerMemory = (): Slots =>
  new Slots(limits, {
    sender: 'Too many large answers at once. Try again later.',
    everybody: 'too many large answers at once',
    retryAfterMs: limits.waitMs,
  })

/**
 * Waits until a large answer may be in memory, and counts it until its client has read it or is gone.
 *
 * @param bytes of the whole answer; the larger of two numbers for the same answer counts
 * @throws DomainError rate-limited when the sender has used its share, unavailable when no sender can get
 * memory
 */
export type HoldAnswer = (bytes: number) => Promise<void>

/** Returns the function that holds memory for the answer to one request. */
export function answerHolder(memory: Slots, sender: string, response: Response): HoldAnswer {
  let held = 0
  let giveBack = () => {}
  return async (bytes) => {
    if (bytes < countedBytesMin || bytes <= held || response.closed) return
    // Two requests that keep what they hold while they wait for more could wait for each other.
    giveBack()
    giveBack = await memory.take({ sender, size: bytes })
    held = bytes
    if (response.closed) return giveBack()
    response.once('close', giveBack)
    response.setTimeout(stallMs, () => response.destroy())
  }
}
