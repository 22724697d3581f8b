import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Echo, startEcho, type Upstream } from './support/echo-server.js'
import { type Gateway, startGateway } from './support/gateway.js'

let upstream: Upstream
const gateways: Gateway[] = []
beforeAll(async () => {
  upstream = await startEcho('git-api')
})
afterAll(async () => {
  for (const gateway of gateways) await gateway.stop()
  await upstream?.close()
})

const start = async (trustedProxies: string) => {
  const gateway = await startGateway({ 'git-api': upstream.port }, undefined, undefined, trustedProxies)
  gateways.push(gateway)
  return gateway
}

/** Returns the client address that services receive. */
async function seen({ url }: Gateway, forwarded: string) {
  const response = await fetch(`${url}/api/v4/user`, { headers: { 'X-Forwarded-For': forwarded } })
  const { headers } = (await response.json()) as Echo
  return [headers['x-forwarded-for'], headers['x-real-ip']]
}

describe('TRUSTED_PROXIES', () => {
  it('trusts no proxy that is not named', async () => {
    expect(await seen(await start(''), '203.0.113.5')).toEqual(['127.0.0.1', '127.0.0.1'])
    expect(await seen(await start('10.0.0.0/8, fd00::/8'), '203.0.113.5')).toEqual(['127.0.0.1', '127.0.0.1'])
  })

  it('trusts its proxies up to the first address that is not one of them', async () => {
    const gateway = await start('127.0.0.1, 192.0.2.0/24')
    expect(await seen(gateway, '6.6.6.6, 203.0.113.5, 192.0.2.7')).toEqual(['203.0.113.5', '203.0.113.5'])
    expect(await seen(gateway, '203.0.113.5')).toEqual(['203.0.113.5', '203.0.113.5'])
  })

  it.each(['proxy.example.com', '10.0.0.1;deny all', '$(id)'])('refuses to start with %s', async (value) => {
    await expect(start(value)).rejects.toThrow('is neither an address nor a network')
  })
})
