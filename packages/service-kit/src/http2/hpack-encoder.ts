import { staticTable } from './hpack-static-table.js'

const indexOf = new Map(staticTable.map(({ name, value }, index) => [`${name}\n${value}`, index + 1]))

/**
 * Writes a header block that needs no table at the reader's but the static one, so a block that is written once fits
 * every connection: RFC 7541, section 6.
 *
 * @param fields names in lower case; values of Latin-1
 */
export function encodeFields(fields: Iterable<readonly [name: string, value: string]>): Buffer {
  return Buffer.concat([...fields].flatMap(([name, value]) => encodeField(name, value)))
}

function encodeField(name: string, value: string): Buffer[] {
  const index = indexOf.get(`${name}\n${value}`)
  if (index !== undefined) return [encodeNumber(index, 0x80, 0x7f)]
  return [encodeNumber(0, 0, 0x0f), ...encodeString(name), ...encodeString(value)]
}

function encodeString(text: string): Buffer[] {
  const octets = Buffer.from(text, 'latin1')
  return [encodeNumber(octets.length, 0, 0x7f), octets]
}

/** @param first what the first byte holds beside the number, whose bits there are those of the mask */
function encodeNumber(value: number, first: number, mask: number): Buffer {
  if (value < mask) return Buffer.from([first | value])
  const bytes = [first | mask]
  let rest = value - mask
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push(0x80 | (rest & 0x7f))
  return Buffer.from([...bytes, rest])
}
