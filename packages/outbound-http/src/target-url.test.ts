import { describe, expect, it } from 'vitest'
import { outboundTargetFields, targetPolicy } from './target-policy.js'
import { addressProblem, urlProblem } from './target-url.js'

const policyOf = (hosts?: string, privateNetworks = false) =>
  targetPolicy({ WEBHOOK_ALLOWED_HOSTS: hosts, WEBHOOK_ALLOW_PRIVATE_NETWORKS: privateNetworks })
const closed = policyOf()

const notPublic = {
  '127.0.0.1': 'loopback',
  '10.1.2.3': 'private',
  '172.16.0.1': 'private',
  '192.168.1.1': 'private',
  '100.64.0.1': 'carrier grade nat',
  '169.254.169.254': 'link local',
  '0.0.0.0': 'unspecified',
  '224.0.0.1': 'multicast',
  '255.255.255.255': 'broadcast',
  '198.18.0.1': 'reserved',
  '192.0.2.1': 'reserved',
  '240.0.0.1': 'reserved',
  '::': 'unspecified',
  '::1': 'loopback',
  '::7f00:1': 'reserved',
  '::ffff:127.0.0.1': 'loopback',
  '::ffff:a00:1': 'private',
  '64:ff9b::7f00:1': 'rfc6052',
  '2002:7f00:1::': '6to4',
  '2001:0:1::': 'teredo',
  'fe80::1': 'link local',
  'fe80::1%eth0': 'link local',
  'fec0::1': 'deprecated site local',
  'fd00::1': 'unique local',
  'ff02::1': 'multicast',
  '2001:db8::1': 'reserved',
  '4000::1': 'reserved',
}

describe('addressProblem', () => {
  it.each(Object.entries(notPublic))('refuses %s (%s)', (address, range) => {
    expect(addressProblem(address, closed)).toBe(`is not a public address (${range})`)
  })

  it.each(['8.8.8.8', '::ffff:8.8.8.8', '2606:4700::1111'])('accepts the public address %s', (address) => {
    expect(addressProblem(address, closed)).toBeNull()
  })

  it('accepts listed addresses and networks, and none beside them', () => {
    const policy = policyOf('10.1.0.0/16, 127.0.0.1,[::1], hooks.internal,fd00::/8')
    for (const address of ['10.1.2.3', '127.0.0.1', '::1', '::ffff:10.1.2.3', 'fd00::7']) {
      expect(addressProblem(address, policy)).toBeNull()
    }
    for (const address of ['10.2.0.1', '127.0.0.2', 'fe80::1']) {
      expect(addressProblem(address, policy)).not.toBeNull()
    }
  })

  it('allows private networks with one setting, but never metadata services of clouds', () => {
    const policy = policyOf(undefined, true)
    expect(addressProblem('10.2.0.1', policy)).toBeNull()
    expect(addressProblem('127.0.0.1', policy)).toBeNull()
    expect(addressProblem('169.254.169.254', policy)).not.toBeNull()
  })
})

describe('urlProblem', () => {
  it.each([
    'http://127.0.0.1/',
    'http://0x7f.1/',
    'http://2130706433/',
    'http://017700000001/',
    'http://127.1/',
    'http://localhost/',
    'http://LOCALHOST.:8080/',
    'http://api.localhost/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[64:ff9b::10.0.0.1]/',
    'https://169.254.169.254/latest/meta-data',
  ])('refuses %s in its written form', (url) => {
    expect(urlProblem(url, closed)).toMatch(/^is refused: .* is not a public address/)
  })

  it.each(['ftp://example.com/', 'file:///etc/passwd', 'gopher://x/', 'example.com', '', 'http://'])(
    'refuses %j, which is not an http or https URL',
    (url) => {
      expect(urlProblem(url, closed)).toBe('must be an http or https URL')
    },
  )

  it('refuses user names and passwords, and URLs that are too long', () => {
    expect(urlProblem('https://me:pw@example.com/', closed)).toBe('must not hold a user name or a password')
    expect(urlProblem(`https://example.com/${'a'.repeat(2048)}`, closed)).toMatch(/^is too long/)
  })

  it('accepts public names and addresses, and those that the operator lists', () => {
    expect(urlProblem('https://hooks.example.com:8443/a?b=c', closed)).toBeNull()
    expect(urlProblem('http://8.8.8.8/', closed)).toBeNull()
    expect(urlProblem('http://localhost:3000/', policyOf('LocalHost'))).toBeNull()
    expect(urlProblem('http://127.0.0.1:3000/', policyOf('127.0.0.0/8'))).toBeNull()
  })
})

describe('WEBHOOK_ALLOWED_HOSTS', () => {
  const field = outboundTargetFields.WEBHOOK_ALLOWED_HOSTS
  it('accepts hosts, addresses and networks, and nothing else', () => {
    for (const good of ['a', 'a.b-c.example,10.0.0.0/8', '::1', '[::1]'])
      expect(field.safeParse(good).success).toBe(true)
    for (const bad of ['http://a/', 'a b', '10.0.0.0/99', '*.x', 'a:80'])
      expect(field.safeParse(bad).success).toBe(false)
  })
})
