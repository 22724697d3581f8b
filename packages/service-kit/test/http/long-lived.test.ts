import { randomUUID } from 'node:crypto'
import { forbidden, rateLimited } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import {
  answered,
  createAuthenticator,
  createHttpApp,
  endpoint,
  type Guard,
  type HttpServer,
  listen,
  type Route,
  route,
  signedIn,
} from '../../src/http/index.js'
import { createServiceContext, type ServiceContext } from '../../src/lifecycle/index.js'

const caller: Caller = {
  user: { id: 1, username: 'ada', name: 'Ada', email: 'ada@example.com', admin: false, state: 'active' },
  token: { id: 1, scopes: ['api'] },
}

const state = {
  isTokenGood: true,
  isDatabaseAway: false,
  hasRole: true,
  isLimited: false,
  reasons: [] as unknown[],
}
beforeEach(() =>
  Object.assign(state, {
    isTokenGood: true,
    isDatabaseAway: false,
    hasRole: true,
    isLimited: false,
    reasons: [],
  }),
)

/** Answers a little every 20 ms for three seconds, unless its signal ends the answer. */
const trickle = (endsItself: boolean) =>
  endpoint({
    input: z.object({}),
    async handle(_input, _access, { raw, signal }) {
      signal.addEventListener('abort', () => {
        state.reasons.push(signal.reason)
        if (endsItself) raw.response.end('bye')
      })
      for (let step = 0; step < 150 && !raw.response.closed && !raw.response.writableEnded; step += 1) {
        raw.response.write('.')
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      raw.response.end()
      return answered
    },
  })

let begin = () => {}
/** Does not answer before or after its signal is aborted. */
const silent = endpoint({
  input: z.object({}),
  handle: () => {
    begin()
    return new Promise<never>(() => {})
  },
})

const withRole: Guard<Caller> = (call) => {
  if (!state.hasRole) throw forbidden()
  if (state.isLimited) throw rateLimited('too many', 1000)
  return signedIn(call)
}

const routes: Route[] = [
  route('GET', '/cut', withRole, trickle(false), { longLived: true }),
  route('PUT', '/silent', withRole, silent, { longLived: true }),
  route('GET', '/ended', withRole, trickle(true), { longLived: true }),
]

let context: ServiceContext
let server: HttpServer
beforeAll(async () => {
  context = createServiceContext('test', 'silent')
  const { authenticate } = createAuthenticator(async () => {
    if (state.isDatabaseAway) throw new Error('connection refused')
    return state.isTokenGood ? caller : null
  })
  const app = createHttpApp({ ...context, authenticate, routes, rateLimitPerMinute: 0 })
  server = await listen(app, '127.0.0.1', 0, 1000)
})
afterAll(async () => {
  await server?.close()
  await context?.lifecycle.close()
})

/**
 * Begins to read an answer, changes the state, and returns how the answer ended and how long after the
 * change.
 */
async function endOf(path: string, change: () => void) {
  const response = await fetch(`http://127.0.0.1:${server.port}/api/v4${path}`, {
    // Each request has another token, because refused tokens are remembered for half a second.
    headers: { 'PRIVATE-TOKEN': randomUUID() },
  })
  expect(response.status).toBe(200)
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (!reader) throw new Error('an answer without a body')
  await reader.read()
  change()
  const changedAtMs = performance.now()
  let received = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return { end: 'complete', received, ms: performance.now() - changedAtMs }
      received += value
    }
  } catch {
    return { end: 'cut', received, ms: performance.now() - changedAtMs }
  }
}

it('cuts an answer in progress within a second of the revocation of its token', async () => {
  const { end, ms } = await endOf('/cut', () => {
    state.isTokenGood = false
  })
  expect(end).toBe('cut')
  expect(ms).toBeLessThan(1500)
  expect(state.reasons[0]).toMatchObject({ kind: 'unauthenticated' })
})

it('cuts an answer in progress when the right to it is gone', async () => {
  const { end } = await endOf('/cut', () => {
    state.hasRole = false
  })
  expect(end).toBe('cut')
  expect(state.reasons[0]).toMatchObject({ kind: 'forbidden' })
})

it('refuses a request without an answer yet, whatever its endpoint does', async () => {
  const began = new Promise<void>((resolve) => {
    begin = resolve
  })
  const answer = fetch(`http://127.0.0.1:${server.port}/api/v4/silent`, {
    method: 'PUT',
    headers: { 'PRIVATE-TOKEN': randomUUID() },
  })
  await began
  state.hasRole = false
  const { status } = await answer
  expect(status).toBe(403)
})

it('lets an endpoint end its answer in its own way first', async () => {
  const { end, received } = await endOf('/ended', () => {
    state.isTokenGood = false
  })
  expect(end).toBe('complete')
  expect(received).toMatch(/bye$/)
})

it('continues an answer while tokens cannot be checked', async () => {
  const { end, received } = await endOf('/cut', () => {
    state.isDatabaseAway = true
  })
  expect(end).toBe('complete')
  expect(received.length).toBeGreaterThan(50)
})

it('continues an answer while a limit refuses the check', async () => {
  const { end } = await endOf('/cut', () => {
    state.isLimited = true
  })
  expect(end).toBe('complete')
})
