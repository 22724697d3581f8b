import { z } from 'zod'
import type { PayloadHead } from '../activities/store.js'

const encodings = ['json', 'text', 'base64'] as const

export const payloadShape = z
  .object({
    size: z.int(),
    sha256: z.string(),
    stored_size: z.int(),
    encoding: z.enum(encodings),
    content: z.string(),
    truncated: z.boolean(),
    url: z.string(),
  })
  .meta({ id: 'SagaPayload', description: 'The start of a payload, and the URL of the complete payload' })

/**
 * Returns a payload for display: JSON and text unchanged, anything else as base64. JSON stays text, because
 * parsing would round long numbers, which ids often are.
 *
 * @param url address of the bytes
 */
export function presentPayload(
  payload: PayloadHead | null,
  url: string,
): z.output<typeof payloadShape> | null {
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

export type PayloadEncoding = (typeof encodings)[number]

/** Returns the encoding of bytes; JSON that was cut is text. */
export const encodingOf = (bytes: Buffer, truncated: boolean): PayloadEncoding =>
  encodingOfText(decodeText(bytes, truncated), truncated)

/** Decodes text; null when the bytes are not text. A character that was cut in the middle is left out. */
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

/** Returns the beginning of a text in UTF-8, without half a character at its end. */
export const headOfText = (text: Buffer, bytesMax: number): string =>
  new TextDecoder().decode(text.subarray(0, bytesMax), { stream: true })
