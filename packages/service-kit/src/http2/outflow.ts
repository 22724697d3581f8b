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
  /** Those that could send more, were it not for the connection. */
  #waiting: Sender[] = []

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
    if (!this.#waiting.includes(sender)) this.#waiting.push(sender)
  }

  /** Lets those that wait send in turns, one frame each. */
  resume(): void {
    while (this.#waiting.length > 0 && this.bytesFree > 0) {
      const turn = this.#waiting
      this.#waiting = []
      for (const sender of turn) sender.sendFrame()
    }
  }
}
