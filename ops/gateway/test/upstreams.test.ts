import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findRecentNginx } from '@switchyard/local-servers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Echo, startEcho, type Upstream } from './support/echo-server.js'
import { type Gateway, gatewayFolder, gatewayTools, startGateway } from './support/gateway.js'
import { startNameServer } from './support/name-server.js'

const program = await findRecentNginx(gatewayTools, console.error)
const shipped = (path: string) => readFileSync(join(gatewayFolder, path), 'utf8')

describe.skipIf(!program)('upstreams.conf as shipped', () => {
  let names: Awaited<ReturnType<typeof startNameServer>>
  let gateway: Gateway
  let first: Upstream
  let second: Upstream
  const addresses = new Map<string, string>()

  beforeAll(async () => {
    first = await startEcho('first', '127.0.0.2')
    second = await startEcho('second', '127.0.0.3', first.port)
    addresses.set('git-api', '127.0.0.2')
    names = await startNameServer(addresses)
    // Only the name server and the port of the services, which is the same for all, are changed.
    const upstreams = shipped('upstreams.conf')
      .replace('include /run/gateway/resolver.conf;', `resolver 127.0.0.1:${names.port} valid=1s ipv6=off;`)
      .replaceAll(':8080 resolve', `:${first.port} resolve`)
    gateway = await startGateway(
      {},
      {
        program: program ?? '',
        http: shipped('listen-http.conf'),
        grpc: shipped('listen-grpc.conf'),
        upstreams,
      },
    )
  })
  afterAll(async () => {
    await gateway?.stop()
    await first?.close()
    await second?.close()
    names?.close()
  })

  const answering = async () => {
    const response = await fetch(`${gateway.url}/api/v4/version`)
    return response.ok ? ((await response.json()) as Echo).name : response.status
  }

  it('starts while names are unknown, and follows a service to another address without a reload', async () => {
    await expect.poll(answering, { interval: 100 }).toBe('first')
    expect((await fetch(`${gateway.url}/console/`)).status).toBe(502)
    addresses.set('git-api', '127.0.0.3')
    await expect.poll(answering, { interval: 100 }).toBe('second')
    addresses.set('console', '127.0.0.2')
    await expect
      .poll(async () => (await fetch(`${gateway.url}/console/`)).status, { interval: 100 })
      .toBe(200)
  })
})
