import type { Agent } from 'undici'
import { openAgent } from './guarded-agent.js'
import type { TargetPolicy } from './target-policy.js'
import { hostnameOf, hostProblem } from './target-url.js'

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
  let opened: Promise<Agent> | undefined
  return {
    async read({ origin, pathname, search }) {
      const problem = hostProblem(hostnameOf(new URL(origin)), policy)
      if (problem !== null) throw new Error(`${origin} ${problem}`)
      opened ??= openAgent(policy, { timeoutMs, verifyTls: true })
      // Loading undici fails while the process has no file handles left. The next document loads it again.
      opened.catch(() => {
        opened = undefined
      })
      const agent = await opened
      const path = pathname + search
      const signal = AbortSignal.timeout(timeoutMs)
      const headers = { accept: 'application/json' }
      const { statusCode, body } = await agent.request({ origin, path, method: 'GET', headers, signal })
      const text = await readText(body, bytesMax)
      if (statusCode !== 200) throw new Error(`${origin}${path} answers ${statusCode}`)
      return JSON.parse(text)
    },
    async close() {
      await (await opened)?.close()
    },
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
