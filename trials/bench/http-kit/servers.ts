import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createAuthenticator,
  createHttpApp,
  endpoint,
  limitersOfReplicas,
  listen,
  ok,
  route,
  signedIn,
  text,
} from '@switchyard/service-kit/http'
import { createServiceContext } from '@switchyard/service-kit/lifecycle'
import express from 'express'
import { z } from 'zod'

/** A body of about the size of a commit. */
const body = {
  id: 'a'.repeat(40),
  title: 'Greet the world',
  message: 'x'.repeat(1200),
  parent_ids: ['b'.repeat(40)],
}

const caller = {
  user: { id: 1, username: 'amy', name: 'Amy', email: 'amy@example.com', admin: false, state: 'active' },
  token: { id: 1, scopes: ['api'] as const },
}

const show = endpoint({ input: z.object({ id: text(), sha: text() }), handle: async () => ok(body) })

/** Creates an app with the kit. Logs go to the null device, as they go to a pipe in production. */
function kitApp(redisUrl?: string) {
  const context = createServiceContext('bench', 'info')
  return createHttpApp({
    ...context,
    authenticate: createAuthenticator(async () => caller).authenticate,
    routes: [route('GET', '/projects/:id/repository/commits/:sha', signedIn, show)],
    rateLimitPerMinute: 100_000_000,
    createLimiter: redisUrl ? limitersOfReplicas({ ...context, redisUrl, service: 'bench' }) : undefined,
  })
}

function bareApp() {
  const app = express()
  app.get('/api/v4/projects/:id/repository/commits/:sha', (_request, response) => {
    response.json(body)
  })
  return app
}

async function listenBarely() {
  const server = createServer(bareApp()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server.address() as AddressInfo
}

/** `counting` is the kit with limits that are counted in Redis. */
const listeners = {
  kit: () => listen(kitApp(), '127.0.0.1', 0, 1000),
  counting: () => listen(kitApp(process.env.REDIS_URL), '127.0.0.1', 0, 1000),
  bare: listenBarely,
}

const { port } = await listeners[process.argv[2] as keyof typeof listeners]()
process.send?.(port)
process.once('disconnect', () => process.exit(0))
