import { type Call, streamed } from '@switchyard/service-kit/http'
import type { RawContent } from '../../use-cases/files.js'
import { startBytes } from '../start-bytes.js'

/** Media types of raw content. A text is `text/plain` whatever it means, so that no browser runs it. */
export const rawTypes = ['text/plain', 'application/octet-stream']

/**
 * Answers with the bytes of a blob, or the part of them that `Range` asks for.
 *
 * @param fileName name of the download
 */
export async function sendRaw(
  { blob, isText, write }: RawContent,
  { fileName, headers = {} }: { fileName: string; headers?: Record<string, string> },
  call: Call,
): Promise<typeof streamed> {
  const { response } = call.raw
  response.set(headers)
  if (!isText) response.attachment(fileName)
  response.type(isText ? 'text/plain; charset=utf-8' : 'application/octet-stream')
  const range = startBytes(call.raw, { etag: `"${blob.id}"`, size: blob.size })
  if (range) await write(response, range)
  response.end()
  return streamed
}
