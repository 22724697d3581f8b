import { setImmediate as others } from 'node:timers/promises'
import { LongText } from '@switchyard/service-kit/http'

interface SentAction {
  content?: string | LongText | undefined
  encoding: 'text' | 'base64'
}

/** Whole groups of four characters, decoded in some milliseconds. */
const sliceBytes = 1024 * 1024

/** Decodes long contents where they are, in slices; other requests go on meanwhile. Short ones stay texts. */
export async function decodeLongContents<Action extends SentAction>(
  actions: readonly Action[],
): Promise<(Omit<Action, 'content'> & { content?: string | Uint8Array | undefined })[]> {
  const decoded = []
  for (const action of actions) {
    const { content, encoding } = action
    if (!(content instanceof LongText)) decoded.push({ ...action, content })
    else
      decoded.push({
        ...action,
        content: encoding === 'text' ? content.bytes : await decodeBase64(content.bytes),
      })
  }
  return decoded
}

/** @returns the text itself when it is not plainly base64: whoever reads it has words for that, or copes */
async function decodeBase64(bytes: Buffer): Promise<Uint8Array | string> {
  for (let at = 0; at < bytes.length; at += sliceBytes) {
    const isLast = at + sliceBytes >= bytes.length
    const allowed = isLast ? /^[\w+/-]*={0,2}$/ : /^[\w+/-]*$/
    if (!allowed.test(bytes.toString('latin1', at, at + sliceBytes))) return bytes.toString('utf8')
    if (!isLast) await others()
  }
  let written = 0
  for (let at = 0; at < bytes.length; at += sliceBytes) {
    // The result is shorter than what it is made from, so it never runs into what is still to be read.
    written += Buffer.from(bytes.toString('latin1', at, at + sliceBytes), 'base64').copy(bytes, written)
    await others()
  }
  return bytes.subarray(0, written)
}
