import type { IncomingMessage } from 'node:http'
import { tooLarge } from '@switchyard/domain'

/** Bodies that are in memory at once, in bytes; others wait for their turn before they are read. */
const budgetBytes = 640 * 1024 * 1024

let takenBytes = 0
const waiting: { bytes: number; start: () => void }[] = []

/** Resolves when there is room for a body of this size; the room is given back by the function it resolves with. */
function takeRoom(bytes: number): Promise<() => void> {
  return new Promise((resolve) => {
    const start = () => {
      takenBytes += bytes
      resolve(() => {
        takenBytes -= bytes
        serve()
      })
    }
    waiting.push({ bytes, start })
    serve()
  })
}

function serve(): void {
  for (let next = waiting[0]; next; next = waiting[0]) {
    // One that is larger than the budget goes when it is alone.
    if (takenBytes > 0 && takenBytes + next.bytes > budgetBytes) return
    waiting.shift()
    next.start()
  }
}

/**
 * Reads a body of known length into one piece of memory. Many large ones at once wait for each other; the room of
 * each is free again when its connection is done with the answer.
 *
 * @param onDone called with what gives the room back
 * @throws DomainError too-large for more than was announced; Error when the client goes away
 */
export async function readLargeBody(
  request: IncomingMessage,
  length: number,
  onDone: (release: () => void) => void,
): Promise<Buffer> {
  onDone(await takeRoom(length))
  const body = Buffer.allocUnsafeSlow(length)
  let at = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (at + chunk.length > length) throw tooLarge('413 Request Entity Too Large')
    at += chunk.copy(body, at)
  }
  return body.subarray(0, at)
}
