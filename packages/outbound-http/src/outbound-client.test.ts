import { describe, expect, it } from 'vitest'
import { createCheckedLookup, createOutboundClient, RefusedTarget } from './outbound-client.js'
import { targetPolicy } from './target-policy.js'

describe('a look-up', () => {
  const policy = targetPolicy({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: false })
  type Answer = { address: string; family: number }[]
  const resolving = (addresses: Answer) =>
    createCheckedLookup(policy, ((_host: string, _options: object, callback: (e: null, a: Answer) => void) =>
      callback(null, addresses)) as never)
  const lookup = (addresses: Answer, all: boolean) =>
    new Promise((resolve) => {
      resolving(addresses)('name.example', { all }, (error, address) => resolve(error?.message ?? address))
    })

  it('returns only public addresses, so that no connection to another address is possible', async () => {
    const mixed = [
      { address: '10.0.0.1', family: 4 },
      { address: '8.8.8.8', family: 4 },
      { address: '::ffff:10.0.0.1', family: 6 },
    ]
    expect(await lookup(mixed, true)).toEqual([{ address: '8.8.8.8', family: 4 }])
    expect(await lookup(mixed, false)).toBe('8.8.8.8')
  })

  it('fails when there is no public address', async () => {
    const given = [{ address: '10.0.0.1', family: 4 }]
    expect(await lookup(given, true)).toBe(
      'the target is refused: name.example is not a public address (private)',
    )
    expect(await lookup([], true)).toMatch(/^the target is refused: name.example is/)
  })
})

describe('a client', () => {
  it('refuses a request to an address that the policy refuses, which needs no look-up', async () => {
    const policy = targetPolicy({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: false })
    const request = { method: 'GET', signal: AbortSignal.timeout(1000) } as const
    const sent = createOutboundClient(policy, 1000).request('http://127.0.0.1:1/', request)
    await expect(sent).rejects.toThrow(RefusedTarget)
  })
})
