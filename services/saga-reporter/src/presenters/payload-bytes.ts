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
 * The bytes of a payload, for a client or a file. Every reporter can write payloads, so a browser must not show one as a
 * page: it is a download of a harmless type, and the browser must not guess another type.
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
      'Content-Security-Policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      'Cache-Control': 'max-age=0, private, must-revalidate',
      Vary: 'Accept-Encoding, PRIVATE-TOKEN, Authorization, Cookie',
      // The digest is that of the whole payload, of which fewer bytes may be stored.
      ETag: truncated ? `"${sha256}-${bytes.length}"` : `"${sha256}"`,
      'X-Payload-Size': String(size),
      'X-Payload-Sha256': sha256,
      'X-Payload-Truncated': String(truncated),
    },
  }
}
