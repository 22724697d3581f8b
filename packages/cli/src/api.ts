import { setTimeout as delay } from 'node:timers/promises'
import createClient, { type Client } from 'openapi-fetch'
import type { Connection } from './credentials.js'
import { exitCodes, Failure, networkFailure, refusalFailure, usageFailure } from './failure.js'
import type { components, paths } from './generated/api.js'

export type Schemas = components['schemas']
export type Api = Client<paths>

/** Longest wait for a rate limit in all, because a pipeline should fail rather than hang. */
const waitMsMax = 60_000

/**
 * Creates a typed client of the API, whose types come from the OpenAPI document. Every answer but a success
 * throws a Failure.
 *
 * @param say tells a person that the command waits
 */
export function createApi({ url, token }: Connection, say: (line: string) => void): Api {
  const api = createClient<paths>({
    baseUrl: `${url}/api/v4`,
    headers: { Authorization: `Bearer ${token}` },
    // A redirect would lose the body of a request, or send the token to another server.
    redirect: 'manual',
    fetch: fetchInTurn(url, say),
  })
  api.use({
    onRequest({ params }) {
      const parts = Object.values(params.path ?? {})
      if (parts.includes(''))
        throw usageFailure('an argument is empty: check the variable that it comes from')
      if (parts.some((part) => part === '.' || part === '..')) throw usageFailure('. and .. name nothing')
    },
    async onResponse({ response }) {
      if (response.ok) return
      const target = response.headers.get('Location')
      if (response.status >= 300 && response.status < 400 && target)
        throw new Failure(
          `${url} leads to ${target}: use the address where it ends with "switchyard login" or SWITCHYARD_URL`,
          exitCodes.unreachable,
        )
      if (response.status === 401 && isIdentityToken(token)) throw identityRefused
      throw refusalFailure(response.status, parsedJson(await response.text()), url)
    },
  })
  return api
}

/**
 * Returns whether a token is the identity token of a job, signed by a forge. Tokens of Switchyard have no
 * JSON header.
 */
const isIdentityToken = (token: string) => /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/.test(token)

const identityRefused = new Failure(
  'the identity token of this job is not trusted here: it has expired, or no rule matches it, or the command has no --project and needs an exchanged token (docs/keyless-ci.md)',
  exitCodes.notSignedIn,
)

/** Wraps `send` so that a request refused by a rate limit, which has done nothing yet, is sent again. */
export const fetchInTurn =
  (url: string, say: (line: string) => void, send = (request: Request) => fetch(request.clone())) =>
  async (request: Request): Promise<Response> => {
    for (let waitedMs = 0; ; ) {
      let response: Response
      try {
        response = await send(request)
      } catch (error) {
        if (request.signal.aborted) throw error
        throw networkFailure(error, url)
      }
      const waitMs = Math.max(1, Number(response.headers.get('Retry-After')) || 1) * 1000
      if (response.status !== 429 || waitedMs + waitMs > waitMsMax) return response
      await response.body?.cancel()
      say(`the server asks to wait ${waitMs / 1000} s`)
      await delay(waitMs, undefined, { signal: request.signal })
      waitedMs += waitMs
    }
  }

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Returns the data of an answer.
 *
 * @throws Failure when a success has none, for example from a server that is not a Switchyard
 */
export async function dataOf<Data>(answer: Promise<{ data?: Data; response: Response }>): Promise<Data> {
  const { data, response } = await readable(answer)
  if (data === undefined || typeof data === 'string')
    throw new Failure(
      `${new URL(response.url).origin} answered as Switchyard never does: check the address`,
      exitCodes.unreachable,
    )
  return data
}

/** Reads an answer. An answer that breaks off, or that is not JSON, has no data. */
async function readable<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new Failure(
        'the answer is no JSON, as those of Switchyard are: check the address',
        exitCodes.unreachable,
      )
    if (error instanceof TypeError && error.message === 'terminated')
      throw new Failure('the answer broke off: try again', exitCodes.unreachable)
    throw error
  }
}
