import { tooLarge } from '@switchyard/domain'
import { isBase64 } from '@switchyard/domain/commit'
import { parseBody } from '@switchyard/service-kit/parse-body'
import { move, transferableSymbol, valueSymbol } from 'piscina'
import { refused, type SentBody } from '../../parser-threads.js'

interface Content {
  action: { content: unknown }
  text: string
  encoding: 'utf8' | 'base64'
  bytes: number
}

/**
 * Most characters of all texts of a commit besides the contents of its files: a message, and 10,000 paths.
 */
const textCharsMax = 8 * 1024 * 1024

/** Replaces invalid base64; the check of the actions refuses both. */
const invalidBase64 = '?'

/**
 * Parses the body of a commit. It returns the contents of files as bytes, whose memory is transferred to the
 * caller.
 */
export async function parseCommit({ chunks, contentType }: SentBody): Promise<unknown> {
  try {
    // `splice` drops the references to the chunks, so that each byte is not kept twice.
    const fields = await parseBody(Buffer.concat(chunks.splice(0)), contentType)
    const memory = decodeContents(fields)
    if (textChars(fields) > textCharsMax) throw tooLarge('413 Request Entity Too Large')
    return move({ [transferableSymbol]: [memory], [valueSymbol]: { parsed: fields } })
  } catch (error) {
    return refused(error)
  }
}

/** Replaces each content by its bytes. The returned memory contains all bytes. */
function decodeContents(fields: Record<string, unknown>): ArrayBuffer {
  const { actions } = fields
  // A commit has its contents in actions, a single file beside its other fields.
  const contents = [...(Array.isArray(actions) ? actions : []), fields].flatMap(contentOf)
  const memory = Buffer.from(new ArrayBuffer(contents.reduce((sum, { bytes }) => sum + bytes, 0)))
  let at = 0
  for (const { action, text, encoding } of contents) {
    const written = memory.write(text, at, encoding)
    action.content = new Uint8Array(memory.buffer, at, written)
    at += written
  }
  return memory.buffer
}

function contentOf(action: unknown): Content[] {
  if (typeof action !== 'object' || action === null || !('content' in action)) return []
  const { content } = action
  if (typeof content !== 'string') return []
  if (!('encoding' in action) || action.encoding !== 'base64') {
    return [{ action, text: content, encoding: 'utf8', bytes: Buffer.byteLength(content) }]
  }
  if (isBase64(content)) {
    return [{ action, text: content, encoding: 'base64', bytes: Buffer.byteLength(content, 'base64') }]
  }
  Object.assign(action, { content: invalidBase64 })
  return []
}

/** Returns the total length of all texts of a value, without field names. */
function textChars(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return 0
  return Object.values(value).reduce<number>((sum, item) => sum + textChars(item), 0)
}
