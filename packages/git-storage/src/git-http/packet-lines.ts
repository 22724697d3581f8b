/**
 * git's framing of messages ("pkt-line" in gitprotocol-common): four hexadecimal digits hold the length of a
 * packet, themselves included. The flush packet `0000` ends a list. Texts are Latin-1, one character for each
 * byte, because names of references need not be UTF-8.
 */
export const flushPacket = '0000'

/** Returns a packet with a text. */
export const packetLine = (text: string): string =>
  `${(text.length + flushPacket.length).toString(16).padStart(4, '0')}${text}`

/** Reads lists of packets from a stream. */
export class PacketReader {
  readonly #chunks: AsyncIterator<Buffer>
  #bytes = Buffer.alloc(0)

  constructor(chunks: AsyncIterator<Buffer>) {
    this.#chunks = chunks
  }

  /**
   * Reads the texts of the packets up to the next flush packet, without their line ends; null at the end of
   * the stream.
   *
   * @throws Error when the bytes are not packets or end within a packet
   */
  async readList(): Promise<string[] | null> {
    const texts: string[] = []
    for (;;) {
      const header = await this.#take(4)
      if (header === null && texts.length === 0) return null
      const length = Number.parseInt(header ?? '', 16)
      if (length === 0) return texts
      const text = length >= 4 ? await this.#take(length - 4) : null
      if (text === null) throw new Error('git sent bytes that are not packets')
      texts.push(text.replace(/\n$/, ''))
    }
  }

  /** Reads the next `length` bytes as text; null when the stream ends before. */
  async #take(length: number): Promise<string | null> {
    while (this.#bytes.length < length) {
      const { value, done } = await this.#chunks.next()
      if (done) return null
      this.#bytes = Buffer.concat([this.#bytes, value])
    }
    const text = this.#bytes.toString('latin1', 0, length)
    this.#bytes = this.#bytes.subarray(length)
    return text
  }
}
