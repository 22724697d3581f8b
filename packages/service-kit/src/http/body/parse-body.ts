import { DomainError } from '@switchyard/domain'
import { type Fields, readForm } from './form.js'
import { multipartPairs, urlencodedPairs } from './form-pairs.js'
import { parseJson } from './json.js'
import type { KeptTexts } from './kept-texts.js'
import { charsetOf, isJson, isMultipart } from './media-type.js'

/**
 * Reads the parameters of a JSON, urlencoded or multipart body. Takes time in proportion to its length. A
 * JSON body that is not an object has no parameters.
 *
 * @param contentType a type that `isJson`, `isUrlencoded` or `isMultipart` accepts
 * @param kept members of a JSON body that keep their original text
 * @throws DomainError invalid-parameters for a malformed body; too-large for too many values;
 * unsupported-media-type for an unknown charset
 */
export async function parseBody(
  bytes: Buffer,
  contentType: string | undefined,
  kept?: KeptTexts,
): Promise<Fields> {
  if (isMultipart(contentType)) return readForm(await multipartPairs(bytes, contentType))
  if (!isJson(contentType)) return readForm(urlencodedPairs(bytes, contentType))
  const value = parseJson(decode(bytes, charsetOf(contentType)), kept)
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

/** Decodes the text of a body, without a byte order mark. */
function decode(bytes: Buffer, charset: string): string {
  if (!['utf-8', 'utf-16', 'utf-16le', 'utf-16be'].includes(charset)) {
    throw new DomainError('unsupported-media-type', 'the body could not be read')
  }
  return new TextDecoder(charset).decode(bytes)
}
