import type { SecretBox } from './secret-box.js'
import type { StoredHeaders } from './store/header-values.js'

/** A further header of the requests of a webhook. */
export interface CustomHeader {
  key: string
  value: string
}

const headersMax = 20
const keyLengthMax = 100
const valueLengthMax = 2048

/** Headers that belong to the connection or to Switchyard. */
const reserved =
  /^(?:x-(?:gitlab|switchyard)-.*|traceparent|tracestate|host|connection|content-(?:length|type|encoding)|transfer-encoding|expect|keep-alive|te|trailer|upgrade|user-agent|proxy-.*)$/i

/** Returns the problem of further headers; null when they can be sent. */
export function customHeadersProblem(headers: readonly CustomHeader[]): string | null {
  if (headers.length > headersMax) return `has more than ${headersMax} headers`
  const names = headers.map(({ key }) => key.toLowerCase())
  if (new Set(names).size < names.length) return 'names a header twice'
  for (const { key, value } of headers) {
    if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(key) || key.length > keyLengthMax) {
      return 'has a key that is no name of a header'
    }
    if (reserved.test(key)) return `must not have the header ${key}, which Switchyard sets`
    if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) || value.length > valueLengthMax) {
      return `has a value of ${key} that is not 1 to ${valueLengthMax} printable ASCII characters`
    }
  }
  return null
}

/** Returns headers in their stored form: their names, and the values encrypted together. */
export const sealHeaders = (headers: readonly CustomHeader[], box: SecretBox): StoredHeaders => ({
  names: headers.map(({ key }) => key),
  values: headers.length === 0 ? null : box.encrypt(JSON.stringify(headers.map(({ value }) => value))),
})

/**
 * Decrypts stored headers.
 *
 * @throws UnreadableSecret
 */
export function openHeaders({ names, values }: StoredHeaders, box: SecretBox): CustomHeader[] {
  if (values === null) return []
  const opened: string[] = JSON.parse(box.decrypt(values))
  return names.map((key, index) => ({ key, value: opened[index] ?? '' }))
}
