import type { PayloadHead } from '@switchyard/db'

/**
 * A payload for people: JSON and text as they were sent, anything else as base64. JSON stays text, because parsing
 * would round the long numbers that ids often are.
 *
 * @param url where its bytes are
 */
export function presentPayload(payload: PayloadHead | null, url: string) {
  if (payload === null) return null
  const { size, sha256, storedSize, head } = payload
  const truncated = head.length < size
  const text = decodeText(head, truncated)
  const content = text ?? head.toString('base64')
  return {
    size,
    sha256,
    stored_size: storedSize,
    encoding: encodingOfText(text, truncated),
    content,
    truncated,
    url,
  }
}

export type PayloadEncoding = 'json' | 'text' | 'base64'

/** What bytes are; JSON that was cut is text. */
export const encodingOf = (bytes: Buffer, truncated: boolean): PayloadEncoding =>
  encodingOfText(decodeText(bytes, truncated), truncated)

/** Null when it is no text. A character that the cut went through is left out. */
function decodeText(head: Buffer, truncated: boolean): string | null {
  if (head.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: truncated })
  } catch {
    return null
  }
}

function encodingOfText(text: string | null, truncated: boolean): PayloadEncoding {
  if (text === null) return 'base64'
  return !truncated && isJson(text) ? 'json' : 'text'
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
