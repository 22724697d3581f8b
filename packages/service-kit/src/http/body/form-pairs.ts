import { DomainError, invalidParameters } from '@switchyard/domain'
import busboy from 'busboy'
import { bodyTooLarge, valuesMax } from './bounds.js'
import { charsetOf } from './media-type.js'

type Pair = [name: string, value: string]

/**
 * Returns the names and values of a urlencoded form in the order sent.
 *
 * @throws DomainError too-large for too many fields; unsupported-media-type for an unknown charset
 */
export function urlencodedPairs(bytes: Buffer, contentType: string | undefined): Iterable<Pair> {
  const text = bytes.toString('latin1')
  refuseManyFields(text)
  const charset = charsetOf(contentType)
  // Not every client encodes characters beyond ASCII.
  if (charset === 'utf-8') return new URLSearchParams(bytes.toString('utf8'))
  if (charset === 'iso-8859-1') return text.split('&').map(latin1Pair)
  throw new DomainError('unsupported-media-type', 'the body could not be read')
}

/**
 * Decodes a field in ISO 8859-1, because old HTTP clients for Java send forms in it unless configured
 * otherwise.
 */
function latin1Pair(field: string): Pair {
  const [name = '', ...value] = field
    .split('=')
    .map((part) =>
      part
        .replaceAll('+', ' ')
        .replace(/%([\da-f]{2})/gi, (_all, code) => String.fromCharCode(Number.parseInt(code, 16))),
    )
  return [name, value.join('=')]
}

function refuseManyFields(text: string): void {
  let fields = 1
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    fields += 1
    if (fields > valuesMax) throw bodyTooLarge()
  }
}

/**
 * Returns the names and values of a multipart form in the order sent.
 *
 * @throws DomainError too-large for too many fields; invalid-parameters for a malformed form and for file
 * parts
 */
export function multipartPairs(bytes: Buffer, contentType: string | undefined): Promise<Pair[]> {
  return new Promise((resolve, reject) => {
    const invalid = () => reject(invalidParameters(['the form is invalid']))
    const pairs: Pair[] = []
    const parser = openParser(bytes, contentType)
    if (!parser) return invalid()
    // The parser passes no name when the part has none, and no value for an unknown charset.
    parser.on('field', (name: string | undefined, value: string | undefined) => {
      if (name === undefined || value === undefined) invalid()
      else pairs.push([name, value])
    })
    parser.on('file', (_name, file) => {
      file.resume()
      reject(invalidParameters(['file parts are not accepted']))
    })
    parser.on('partsLimit', () => reject(bodyTooLarge()))
    parser.on('error', invalid)
    parser.on('close', () => resolve(pairs))
    parser.end(bytes)
  })
}

/**
 * Opens a parser of a multipart form.
 *
 * @returns null for a content type without a boundary
 */
function openParser(bytes: Buffer, contentType: string | undefined): busboy.Busboy | null {
  try {
    return busboy({
      headers: { 'content-type': contentType },
      limits: { fieldNameSize: bytes.length, fieldSize: bytes.length, parts: valuesMax },
    })
  } catch {
    return null
  }
}
