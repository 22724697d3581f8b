import type { StoredPayload } from '@switchyard/db'
import { encodingOf } from './payload.js'

export interface PresentedBytes {
  bytes: Buffer
  headers: Record<string, string>
}

const types = {
  json: { type: 'application/json', ending: 'json' },
  text: { type: 'text/plain; charset=utf-8', ending: 'txt' },
  base64: { type: 'application/octet-stream', ending: 'bin' },
} as const

/**
 * A payload as it is, for a client or a file. Anybody who may report could have written it, so that no browser may take
 * it for a page: it is a download of a harmless type, and nobody guesses another.
 *
 * @param name of the file, without its ending
 */
export function presentBytes({ size, sha256, bytes }: StoredPayload, name: string): PresentedBytes {
  const truncated = bytes.length < size
  const { type, ending } = types[encodingOf(bytes, truncated)]
  const file = `${name.replace(/[^\w.-]/g, '_')}.${ending}`
  return {
    bytes,
    headers: {
      'Content-Type': type,
      'Content-Disposition': `attachment; filename="${file}"`,
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'Cache-Control': 'max-age=0, private, must-revalidate',
      Vary: 'Accept-Encoding, PRIVATE-TOKEN, Authorization',
      // The digest is that of the whole; what is sent of it may be less.
      ETag: truncated ? `"${sha256}-${bytes.length}"` : `"${sha256}"`,
      'X-Payload-Size': String(size),
      'X-Payload-Sha256': sha256,
      'X-Payload-Truncated': String(truncated),
    },
  }
}
