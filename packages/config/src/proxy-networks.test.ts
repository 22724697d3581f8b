import { expect, it } from 'vitest'
import { proxyNetworks } from './proxy-networks.js'

it.each([
  [
    '10.1.2.3, 192.0.2.0/24',
    ['10.1.2.3', '192.0.2.9', '::ffff:10.1.2.3'],
    ['10.1.2.4', '::1', 'unknown', ''],
  ],
  ['fd00::/8', ['fd00::1'], ['fe80::1', '10.0.0.1']],
  ['loopback,uniquelocal', ['127.0.0.9', '::1', '10.0.0.1', '172.16.0.1'], ['172.32.0.1', '203.0.113.1']],
])('%s matches its proxies and no others', (text, proxies, others) => {
  const trusts = proxyNetworks().parse(text)
  expect(proxies.map(trusts)).toEqual(proxies.map(() => true))
  expect(others.map(trusts)).toEqual(others.map(() => false))
})

it.each(['', 'gateway', '10.0.0.0/33', '10.0.0.1,,10.0.0.2', '*'])('%j is refused', (text) => {
  expect(proxyNetworks().safeParse(text).success).toBe(false)
})
