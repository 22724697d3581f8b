import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Gateway, startGateway } from './support/gateway.js'
import { type RawAnswer, rawRequest } from './support/raw-request.js'
import { type ServiceName, startServices } from './support/services.js'

const names = [
  'git-api',
  'saga-reporter',
  'admin-broadcast',
  'jobqueue-metrics',
  'worker',
  'console',
] as const satisfies ServiceName[]
let services: Awaited<ReturnType<typeof startServices>>
let gateway: Gateway

beforeAll(async () => {
  services = await startServices({}, names)
  gateway = await startGateway(services.ports)
})
afterAll(async () => {
  await gateway?.stop()
  await services?.stop()
})

const policyOfData = "default-src 'none'; frame-ancestors 'none'"

function expectCarefulBrowsers({ headers }: RawAnswer, policy: unknown = policyOfData) {
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'content-security-policy': policy,
  })
}

it.each(names)('%s sends security headers with every answer, including refusals', async (name) => {
  const port = services.ports[name] ?? 0
  const statuses: (number | undefined)[] = []
  for (const [path, headers] of [
    ['/-/liveness', {}],
    ['/metrics', {}],
    ['/no/such/path', {}],
    ['/-/metrics', { 'PRIVATE-TOKEN': 'nobody-has-this-token' }],
  ] as const) {
    const answer = await rawRequest(port, path, { headers })
    statuses.push(answer.status)
    expectCarefulBrowsers(answer)
  }
  expect(statuses).toEqual([200, 200, 404, name === 'console' ? 404 : 401])
})

it.each([
  ['data', '/api/v4/version', policyOfData],
  ['a page of the console', '/console/', expect.stringMatching(/script-src 'self'.*frame-ancestors 'none'/)],
  ['the reference', '/api/v4/docs', expect.stringMatching(/script-src 'self'.*frame-ancestors 'none'/)],
  ['an error of the gateway itself', '/metrics', policyOfData],
])('nginx sends one policy with %s: that of the service if it has one', async (_what, path, policy) => {
  const answer = await rawRequest(gateway.httpPort, path, {
    headers: { 'PRIVATE-TOKEN': services.rootToken },
  })
  expectCarefulBrowsers(answer, policy)
  expect(answer.headers['x-frame-options']).toBe('DENY')
  // Node joins headers with the same name by a comma.
  expect(answer.headers['content-security-policy']).not.toContain(',')
})
