import { DomainError, tooLarge } from '@switchyard/domain'
import { isBase64 } from '@switchyard/domain/commit'
import { parseBody } from '@switchyard/service-kit/parse-body'
import { move, transferableSymbol, valueSymbol } from 'piscina'

export interface SentBody {
  bytes: Uint8Array<ArrayBuffer>
  contentType: string | undefined
}

/** The parameters of a body, or its refusal: an error would lose its class between threads. */
export type Parsed = { fields: Record<string, unknown> } | { refusal: Pick<DomainError, 'kind' | 'detail'> }

interface Content {
  action: { content: unknown }
  text: string
  encoding: 'utf8' | 'base64'
  bytes: number
}

/** Longest sum of all texts besides the contents of files: a message, and 10,000 paths. */
const textCharsMax = 8 * 1024 * 1024

/** Replaces content that is not base64; the use case refuses it. */
const invalidBase64 = '?'

/** Parses the body of a commit. The contents of files become bytes in one buffer, which is moved to the caller. */
export async function parseCommit({ bytes, contentType }: SentBody): Promise<unknown> {
  try {
    const fields = await parseBody(bytes, contentType)
    const memory = decodeContents(fields.actions)
    if (textChars(fields) > textCharsMax) throw tooLarge('413 Request Entity Too Large')
    return move({ [transferableSymbol]: [memory], [valueSymbol]: { fields } })
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return { refusal: { kind: error.kind, detail: error.detail } } satisfies Parsed
  }
}

/** Replaces each content by its bytes, which all lie in the returned buffer. */
function decodeContents(actions: unknown): ArrayBuffer {
  const contents = Array.isArray(actions) ? actions.flatMap(contentOf) : []
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

/** The sum of the lengths of all texts in a value, without the names of fields. */
function textChars(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return 0
  return Object.values(value).reduce<number>((sum, item) => sum + textChars(item), 0)
}
