import { storableText } from '@switchyard/domain'
import {
  createOutboundClient,
  type OutboundResponse,
  RefusedTarget,
  type TargetPolicy,
} from '@switchyard/outbound-http'

export interface SendResult {
  /** Null when there was no response. */
  status: number | null
  /** Response headers without cookies; long values are cut. */
  headers: Record<string, string>
  /** The first bytes of the response body as text. */
  body: string
  /** Null for a 2xx response. */
  error: string | null
  durationMs: number
}

export interface Message {
  url: string
  headers: Record<string, string>
  body: string
  /** False: any certificate of the receiver is accepted. Unset: true. */
  verifyTls?: boolean
}

export interface Sender {
  /** Sends a message. Never rejects, because errors are part of the result. */
  send(message: Message): Promise<SendResult>
  close(): Promise<void>
}

interface SenderOptions {
  policy: TargetPolicy
  /** Time limit of an attempt. Unset: 10,000. */
  timeoutMs?: number
}

const timeoutMsDefault = 10_000
const keptBodyBytes = 1024
const keptHeaders = 40
const keptHeaderCharacters = 300

/**
 * Creates a sender of requests to targets that the policy allows. It follows no redirects and reads only the
 * stored part of responses.
 */
export function createSender({ policy, timeoutMs = timeoutMsDefault }: SenderOptions): Sender {
  const client = createOutboundClient(policy, timeoutMs)
  return {
    async send({ url, ...message }) {
      const startedAt = performance.now()
      const signal = AbortSignal.timeout(timeoutMs)
      const requested = client.request(url, { ...message, method: 'POST', signal })
      const answer = await requested.then(readAnswer).catch((error: unknown) => ({
        ...noAnswer,
        error: signal.aborted ? `timeout: no answer within ${timeoutMs / 1000} seconds` : failureText(error),
      }))
      return { ...answer, durationMs: Math.round(performance.now() - startedAt) }
    },
    close: () => client.close(),
  }
}

const noAnswer = { status: null, headers: {}, body: '' }

const readAnswer = async ({ statusCode, headers, body }: OutboundResponse) => ({
  status: statusCode,
  headers: kept(headers),
  body: await firstBytes(body),
  error: statusProblem(statusCode),
})

function statusProblem(status: number): string | null {
  if (status >= 200 && status < 300) return null
  if (status >= 300 && status < 400)
    return `redirect: the target answered ${status}; redirects are not followed`
  return `the target answered ${status}`
}

function kept(headers: OutboundResponse['headers']): Record<string, string> {
  const entries = Object.entries(headers)
    .filter(([name]) => name !== 'set-cookie')
    .slice(0, keptHeaders)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, storableText(String(value)).slice(0, keptHeaderCharacters)]),
  )
}

/**
 * Reads the beginning of a response. The status is known, so an incomplete or endless response is not an
 * error.
 */
async function firstBytes(body: OutboundResponse['body']): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      size += chunk.length
      if (size >= keptBodyBytes) break
    }
  } catch {
    // The bytes that were read are kept.
  }
  return storableText(Buffer.concat(chunks).subarray(0, keptBodyBytes).toString())
}

const failureTexts: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the target closed the connection',
  UND_ERR_SOCKET: 'the target closed the connection',
  ENOTFOUND: 'the name of the host does not resolve',
  EAI_AGAIN: 'the name of the host could not be resolved',
  UND_ERR_CONNECT_TIMEOUT: 'timeout: no connection',
}

/**
 * Returns the text of an error. The error's own message is not used, because it may contain an internal
 * address.
 */
function failureText(error: unknown): string {
  if (error instanceof RefusedTarget) return error.message
  const code = (error as { code?: unknown }).code
  if (typeof code !== 'string') return 'the request failed'
  return failureTexts[code] ?? `the request failed: ${code}`
}
