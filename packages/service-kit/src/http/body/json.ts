import { invalidParameters } from '@switchyard/domain'
import { bodyTooLarge, nestedTooDeeply, nestingMax, valuesMax } from './bounds.js'
import { endOfString, type KeptTexts, keepTexts } from './kept-texts.js'

/**
 * Parses JSON of bounded nesting and number of values. Both are counted before anything is built from the
 * text.
 *
 * @throws DomainError invalid-parameters for malformed or deeply nested JSON; too-large for too many values
 */
export function parseJson(json: string, kept?: KeptTexts, bounds = { valuesMax, nestingMax }): unknown {
  refuseBeyondBounds(json, bounds)
  const value = parse(json)
  if (kept) keepTexts(json, value, kept)
  return value
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw invalidParameters(['the body is not valid JSON'])
  }
}

/**
 * Refuses JSON beyond the bounds. The commas count the values, because every value but the first of a list or
 * object follows a comma.
 */
function refuseBeyondBounds(json: string, bounds: { valuesMax: number; nestingMax: number }): void {
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
        if (nesting > bounds.nestingMax) throw nestedTooDeeply()
        break
      case ']':
      case '}':
        nesting -= 1
        break
      case ',':
        values += 1
        break
    }
    if (values > bounds.valuesMax) throw bodyTooLarge()
  }
}
