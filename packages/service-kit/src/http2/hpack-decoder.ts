import { ConnectionError, errorCodes } from './error-codes.js'
import { createField, type HpackField } from './hpack-field.js'
import { decodeHuffman } from './hpack-huffman.js'
import { staticTable } from './hpack-static-table.js'

/** What the table of a connection may hold unless its reader's settings say otherwise. */
export const tableBytesDefault = 4096

/** No field has fewer than 32 bytes, so a table never holds more of them. */
const entriesMax = tableBytesDefault / 32

/** A number has seven bits a byte; nothing that is larger than this makes sense anywhere. */
const numberBytesMax = 5

/** Reads the header blocks of one connection, in the order they come: RFC 7541. */
export class HpackDecoder {
  readonly #listBytesMax: number
  /** A ring: the newest entry is at `#newest`, older ones before it. */
  readonly #entries = new Array<HpackField | undefined>(entriesMax)
  #newest = -1
  #count = 0
  #bytes = 0
  #bytesMax = tableBytesDefault
  #block: Buffer = Buffer.alloc(0)
  #at = 0

  /** @param listBytesMax what the fields of a block may count together */
  constructor(listBytesMax: number) {
    this.#listBytesMax = listBytesMax
  }

  /**
   * @returns null when the fields are too many; the table is then as if they were not
   * @throws ConnectionError COMPRESSION_ERROR, after which no block can be read
   */
  decode(block: Buffer): HpackField[] | null {
    this.#block = block
    this.#at = 0
    const fields: HpackField[] = []
    let listBytes = 0
    let mayResize = true
    while (this.#at < block.length) {
      const first = block[this.#at] as number
      if ((first & 0xe0) === 0x20) {
        if (!mayResize) throw invalid('a change of the table within a block')
        this.#resize(this.#readNumber(0x1f))
        continue
      }
      mayResize = false
      const field = this.#readField(first)
      listBytes += field.bytes
      if (listBytes <= this.#listBytesMax) fields.push(field)
    }
    return listBytes <= this.#listBytesMax ? fields : null
  }

  #readField(first: number): HpackField {
    if ((first & 0x80) !== 0) return this.#entry(this.#readNumber(0x7f))
    const isKept = (first & 0x40) !== 0
    const index = this.#readNumber(isKept ? 0x3f : 0x0f)
    const name = index === 0 ? this.#readString() : this.#entry(index).name
    const field = createField(name, this.#readString())
    if (isKept) this.#keep(field)
    return field
  }

  #entry(index: number): HpackField {
    const known = staticTable[index - 1]
    if (known !== undefined) return known
    const age = index - staticTable.length - 1
    if (index === 0 || age >= this.#count) throw invalid(`no field at ${index}`)
    return this.#entries[(this.#newest - age + entriesMax) % entriesMax] as HpackField
  }

  #keep(field: HpackField): void {
    this.#evict(this.#bytesMax - field.bytes)
    if (field.bytes > this.#bytesMax) return
    this.#newest = (this.#newest + 1) % entriesMax
    this.#entries[this.#newest] = field
    this.#count += 1
    this.#bytes += field.bytes
  }

  #resize(bytesMax: number): void {
    if (bytesMax > tableBytesDefault) throw invalid('a larger table than was allowed')
    this.#bytesMax = bytesMax
    this.#evict(bytesMax)
  }

  #evict(bytesMax: number): void {
    while (this.#count > 0 && this.#bytes > bytesMax) {
      const oldest = (this.#newest - this.#count + 1 + entriesMax) % entriesMax
      this.#bytes -= (this.#entries[oldest] as HpackField).bytes
      this.#entries[oldest] = undefined
      this.#count -= 1
    }
  }

  /** @param mask the bits of the first byte that belong to the number */
  #readNumber(mask: number): number {
    let value = this.#readByte() & mask
    if (value < mask) return value
    for (let count = 0; count < numberBytesMax; count++) {
      const byte = this.#readByte()
      value += (byte & 0x7f) * 2 ** (7 * count)
      if ((byte & 0x80) === 0) return value
    }
    throw invalid('a number without an end')
  }

  #readString(): string {
    const isCoded = ((this.#block[this.#at] ?? 0) & 0x80) !== 0
    const bytes = this.#readNumber(0x7f)
    const from = this.#at
    const to = from + bytes
    if (to > this.#block.length) throw invalid('a string without an end')
    this.#at = to
    return isCoded ? decodeHuffman(this.#block, from, to) : this.#block.toString('latin1', from, to)
  }

  #readByte(): number {
    const byte = this.#block[this.#at]
    if (byte === undefined) throw invalid('a field without an end')
    this.#at += 1
    return byte
  }
}

const invalid = (message: string) => new ConnectionError(errorCodes.compressionError, message)
