import type { PayloadHead } from '@switchyard/db'

/**
 * A payload for people: JSON and text as they were sent, anything else as base64. JSON stays text, because parsing
 * would round the long numbers that ids often are.
 */
export function presentPayload(payload: PayloadHead | null) {
  if (payload === null) return null
  const { size, sha256, head } = payload
  const truncated = head.length < size
  const text = decodeText(head, truncated)
  const content = text ?? head.toString('base64')
  return { size, sha256, encoding: encodingOf(text, truncated), content, truncated }
}

/** Null when it is no text. A character that the cut went through is left out. */
function decodeText(head: Buffer, truncated: boolean): string | null {
  if (head.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: truncated })
  } catch {
    return null
  }
}

function encodingOf(text: string | null, truncated: boolean): 'json' | 'text' | 'base64' {
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
