import { invalidParameters } from '@switchyard/domain'
import { bodyTooLarge, nestedTooDeeply, nestingMax, valuesMax } from './bounds.js'

/**
 * Parses JSON of bounded nesting and number of values: both are counted before anything is built from the text.
 *
 * @throws DomainError invalid-parameters for malformed or deeply nested JSON; too-large for too many values
 */
export function parseJson(json: string): unknown {
  refuseBeyondBounds(json)
  try {
    return JSON.parse(json)
  } catch {
    throw invalidParameters(['the body is not valid JSON'])
  }
}

/** Every value but the first of a list or object follows a comma. */
function refuseBeyondBounds(json: string): void {
  let nesting = 0
  let values = 1
  for (let at = 0; at < json.length; at += 1) {
    switch (json[at]) {
      case '"':
        at = endOfString(json, at)
        break
      case '[':
      case '{':
        nesting += 1
        values += 1
        if (nesting > nestingMax) throw nestedTooDeeply()
        break
      case ']':
      case '}':
        nesting -= 1
        break
      case ',':
        values += 1
        break
    }
    if (values > valuesMax) throw bodyTooLarge()
  }
}

/** @returns the position of the quotation mark that ends a string; the length of the text when there is none */
function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let backslashes = 0
    while (json[end - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return end
  }
  return json.length
}
