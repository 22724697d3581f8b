import { ConnectionError, errorCodes } from './error-codes.js'

/**
 * Bits of the code of each octet, then of the end of a string: RFC 7541, appendix B. The code is canonical: codes
 * count up by length and then by octet, so the lengths are all there is to know.
 */
// biome-ignore format: 16 octets a line.
const codeBits = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
  28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
  6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
  5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
  7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
  15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
  6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
  20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
  24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
  22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
  21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
  26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
  19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
  20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
  26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
  30,
]

const endOfString = 256
const paddingBitsMax = 7

/** An inner node of the code's tree: what follows a 0 and a 1, another node or, as its complement, an octet. */
type Node = [zero: number, one: number]

const tree = buildTree()

function buildTree(): Node[] {
  const nodes: Node[] = [[0, 0]]
  const order = codeBits.map((bits, symbol) => ({ bits, symbol }))
  order.sort((a, b) => a.bits - b.bits || a.symbol - b.symbol)
  let code = 0
  let length = 0
  for (const { bits, symbol } of order) {
    code *= 2 ** (bits - length)
    length = bits
    addCode(nodes, code, bits, symbol)
    code += 1
  }
  return nodes
}

function addCode(nodes: Node[], code: number, bits: number, symbol: number): void {
  let node = nodes[0] as Node
  for (let bit = bits - 1; bit > 0; bit--) {
    const side = (code >> bit) & 1
    if (node[side] === 0) node[side] = nodes.push([0, 0]) - 1
    node = nodes[node[side] as number] as Node
  }
  node[code & 1] = ~symbol
}

/** A header block has at most 128 KiB, and no code is shorter than five bits. */
const octets = Buffer.allocUnsafeSlow(256 * 1024)

/**
 * Reads a string in the code of HPACK, as Latin-1: RFC 7541, section 5.2.
 *
 * @throws ConnectionError COMPRESSION_ERROR when it holds the end of a string or ends in anything but few ones
 */
export function decodeHuffman(bytes: Buffer, from: number, to: number): string {
  let length = 0
  let at = 0
  let bits = 0
  let areOnes = true
  for (let index = from; index < to; index++) {
    const byte = bytes[index] as number
    for (let bit = 7; bit >= 0; bit--) {
      const side = (byte >> bit) & 1
      const next = (tree[at] as Node)[side] as number
      if (next >= 0) {
        at = next
        bits += 1
        areOnes &&= side === 1
        continue
      }
      if (~next === endOfString) throw invalidCode()
      octets[length++] = ~next
      at = 0
      bits = 0
      areOnes = true
    }
  }
  if (bits > paddingBitsMax || !areOnes) throw invalidCode()
  return octets.toString('latin1', 0, length)
}

const invalidCode = () => new ConnectionError(errorCodes.compressionError, 'invalid Huffman code')
