import type { Agent, Dispatcher } from 'undici'
import { createCheckedLookup, RefusedTarget } from './checked-lookup.js'
import type { TargetPolicy } from './target-policy.js'
import { hostnameOf, hostProblem } from './target-url.js'

/** What one attempt to send came to. */
export interface SendResult {
  /** Null when there was no answer. */
  status: number | null
  /** Of the answer; no cookies, long values cut. */
  headers: Record<string, string>
  /** The first bytes of the answer as text. */
  body: string
  /** Null for a 2xx answer. */
  error: string | null
  durationMs: number
}

export interface Message {
  url: string
  headers: Record<string, string>
  body: string
}

export interface Sender {
  /** Never rejects: whatever goes wrong is in the result. */
  send(message: Message, signal?: AbortSignal): Promise<SendResult>
  close(): Promise<void>
}

export interface SenderOptions {
  policy: TargetPolicy
  /** For the whole of an attempt. Unset: 10,000. */
  timeoutMs?: number
}

const timeoutMsDefault = 10_000
const keptBodyBytes = 1024
const keptHeaders = 40
const keptHeaderCharacters = 300

/** Sends requests to targets that the policy allows. Redirects are not followed, answers are read as far as kept. */
export function createSender({ policy, timeoutMs = timeoutMsDefault }: SenderOptions): Sender {
  let opening: Promise<Agent> | undefined
  // With the first message: most services that can send start without ever doing it.
  const open = async () => {
    const { Agent } = await import('undici')
    return new Agent({
      connect: { lookup: createCheckedLookup(policy), timeout: timeoutMs },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      keepAliveTimeout: 5000,
    })
  }
  return {
    async send(message, signal) {
      const startedAt = performance.now()
      const timeout = AbortSignal.timeout(timeoutMs)
      const signals = signal ? AbortSignal.any([timeout, signal]) : timeout
      opening ??= open()
      const exchanged = opening.then((agent) => exchange(agent, message, policy, signals))
      const answer = await exchanged.catch((error: unknown) => ({
        ...noAnswer,
        error: timeout.aborted ? `timeout: no answer within ${timeoutMs / 1000} seconds` : failureText(error),
      }))
      return { ...answer, durationMs: Math.round(performance.now() - startedAt) }
    },
    async close() {
      await (await opening)?.close()
    },
  }
}

const noAnswer = { status: null, headers: {}, body: '' }

async function exchange(
  agent: Agent,
  { url, headers, body }: Message,
  policy: TargetPolicy,
  signal: AbortSignal,
): Promise<Omit<SendResult, 'durationMs'>> {
  // An address in the place of a name is connected to without any look-up.
  const target = new URL(url)
  const problem = hostProblem(hostnameOf(target), policy)
  if (problem !== null) return { ...noAnswer, error: `the target ${problem}` }
  const { origin, pathname, search } = target
  const path = pathname + search
  const response = await agent.request({ origin, path, method: 'POST', headers, body, signal })
  return {
    status: response.statusCode,
    headers: kept(response.headers),
    body: await firstBytes(response.body),
    error: statusProblem(response.statusCode),
  }
}

function statusProblem(status: number): string | null {
  if (status >= 200 && status < 300) return null
  if (status >= 300 && status < 400)
    return `redirect: the target answered ${status}; redirects are not followed`
  return `the target answered ${status}`
}

function kept(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const entries = Object.entries(headers)
    .filter(([name]) => name !== 'set-cookie')
    .slice(0, keptHeaders)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, storable(String(value)).slice(0, keptHeaderCharacters)]),
  )
}

/** The status is known by now, so an answer that breaks off or goes on for ever is read as far as it came. */
async function firstBytes(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      size += chunk.length
      if (size >= keptBodyBytes) break
    }
  } catch {
    // What has been read is kept.
  }
  return storable(Buffer.concat(chunks).subarray(0, keptBodyBytes).toString())
}

/** PostgreSQL holds no NUL in text. */
const storable = (text: string) => text.replaceAll('\0', '\uFFFD')

const failureTexts: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was broken off',
  UND_ERR_SOCKET: 'the connection was broken off',
  ENOTFOUND: 'the name of the host does not resolve',
  EAI_AGAIN: 'the name of the host could not be resolved',
  UND_ERR_CONNECT_TIMEOUT: 'timeout: no connection',
}

/** Never the error's own message, which may name an address inside the network. */
function failureText(error: unknown): string {
  if (error instanceof RefusedTarget) return `the target is refused: ${error.message}`
  const code = (error as { code?: unknown }).code
  if (typeof code !== 'string') return 'the request failed'
  return failureTexts[code] ?? `the request failed: ${code}`
}
