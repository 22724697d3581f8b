import type { Socket } from 'node:net'
import { windowBytesInitial } from './frames.js'

/** What may wait in a socket before streams keep what they have to send. */
const socketBytesMax = 256 * 1024

/** What has something to send. */
interface Sender {
  /** Sends one frame, and waits again if there is more. */
  sendFrame(): void
}

/** Divides what a connection may send among its streams, frame by frame. */
export class Outflow {
  readonly #socket: Socket
  #window = windowBytesInitial
  /** Those that could send more, were it not for the connection, in their order. */
  readonly #waiting = new Set<Sender>()

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('drain', () => this.resume())
  }

  /** How many bytes may be sent now. */
  get bytesFree(): number {
    return this.#socket.writableLength > socketBytesMax ? 0 : this.#window
  }

  take(bytes: number): void {
    this.#window -= bytes
  }

  /** @returns the window after it has grown, which the caller checks */
  grow(bytes: number): number {
    this.#window += bytes
    return this.#window
  }

  wait(sender: Sender): void {
    this.#waiting.add(sender)
  }

  /** It will not send any more. */
  leave(sender: Sender): void {
    this.#waiting.delete(sender)
  }

  /** Lets those that wait send in turns, one frame each; one that waits again has its next turn after all others. */
  resume(): void {
    for (const sender of this.#waiting) {
      if (this.bytesFree <= 0) return
      this.#waiting.delete(sender)
      sender.sendFrame()
    }
  }
}
