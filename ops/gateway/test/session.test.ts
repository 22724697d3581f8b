import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Gateway, startGateway } from './support/gateway.js'
import { startServices } from './support/services.js'

let services: Awaited<ReturnType<typeof startServices>>
let gateway: Gateway
let origin: string

beforeAll(async () => {
  services = await startServices()
  gateway = await startGateway(services.ports)
  origin = `http://127.0.0.1:${gateway.httpPort}`
})

afterAll(async () => {
  await gateway?.stop()
  await services?.stop()
})

/** Sends a request as a page of the given origin, without `Sec-Fetch-Site`, as browsers do on plain http. */
const ask = (method: string, path: string, headers: Record<string, string>, fields?: object) =>
  fetch(`${origin}/api/v4${path}`, {
    method,
    headers: { ...headers, ...(fields && { 'Content-Type': 'application/json' }) },
    ...(fields && { body: JSON.stringify(fields) }),
  })
const behindEach = ['/user', '/sagas', '/broadcast_messages', '/jobqueue/queue_metrics']
const statusesOf = (headers: Record<string, string>) =>
  Promise.all(behindEach.map(async (path) => (await ask('GET', path, headers)).status))

it('a page signs in behind the gateway, every service accepts its session, and signing out ends it in all services', async () => {
  const fields = { token: services.rootToken }
  expect((await ask('POST', '/session', { Origin: 'http://127.0.0.1:1' }, fields)).status).toBe(403)
  const begun = await ask('POST', '/session', { Origin: origin }, fields)
  expect(begun.status).toBe(201)
  const Cookie = begun.headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
  expect(await statusesOf({ Cookie })).toEqual([200, 200, 200, 200])

  const message = { message: 'From a page' }
  const foreign = await ask(
    'POST',
    '/broadcast_messages',
    { Cookie, Origin: 'https://evil.example' },
    message,
  )
  const made = await ask('POST', '/broadcast_messages', { Cookie, Origin: origin }, message)
  expect([foreign.status, made.status]).toEqual([403, 201])

  expect((await ask('DELETE', '/session', { Cookie, Origin: origin })).status).toBe(204)
  expect(await statusesOf({ Cookie })).toEqual([401, 401, 401, 401])
})
