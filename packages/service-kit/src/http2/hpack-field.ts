/** A header field. Fields of tables are shared by all the requests that refer to them. */
export interface HpackField {
  readonly name: string
  readonly value: string
  /** What it counts in a table or a list: RFC 7541, section 4.1. */
  readonly bytes: number
  /** Whether HTTP/2 allows its name and the characters of its value: RFC 9113, section 8.2.1. */
  readonly isValid: boolean
}

const overheadBytes = 32
const namePattern = /^:?[a-z0-9!#$%&'*+.^_`|~-]+$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what values must not have.
const forbiddenInValue = /[\0-\x08\x0a-\x1f\x7f]/

/** @param value its octets as Latin-1 */
export const createField = (name: string, value: string): HpackField => ({
  name,
  value,
  bytes: name.length + value.length + overheadBytes,
  isValid: namePattern.test(name) && !forbiddenInValue.test(value),
})
