import { createOutboundClient } from './outbound-client.js'
import type { TargetPolicy } from './target-policy.js'

export interface JsonReaderOptions {
  policy: TargetPolicy
  /** Time limit of a document. */
  timeoutMs: number
  bytesMax: number
}

export interface JsonReader {
  /**
   * Reads a document.
   *
   * @throws Error when the document cannot be read
   */
  read(url: URL): Promise<unknown>
  close(): Promise<void>
}

/** Creates a reader of small JSON documents from hosts that the policy allows. It follows no redirects. */
export function createJsonReader({ policy, timeoutMs, bytesMax }: JsonReaderOptions): JsonReader {
  const client = createOutboundClient(policy, timeoutMs)
  return {
    async read(url) {
      const signal = AbortSignal.timeout(timeoutMs)
      const headers = { accept: 'application/json' }
      const { statusCode, body } = await client.request(url, { method: 'GET', headers, signal })
      const text = await readText(body, bytesMax)
      if (statusCode !== 200)
        throw new Error(`${url.origin}${url.pathname}${url.search} answers ${statusCode}`)
      return JSON.parse(text)
    },
    close: () => client.close(),
  }
}

async function readText(body: AsyncIterable<Buffer>, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > bytesMax) throw new Error(`the document has more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
