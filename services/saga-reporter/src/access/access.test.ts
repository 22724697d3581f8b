import type { RawSagaEvent } from '@switchyard/domain/saga'
import { describe, expect, it } from 'vitest'
import { type Peer, parsePeerBindings } from '../shapes/peer.js'
import { certificateNames, requireOwnService, requireOwnTenant } from './access.js'

const requireOwn = (peer: Peer, tenant: string, event: RawSagaEvent) => {
  requireOwnTenant(peer, tenant)
  requireOwnService(peer, event)
}

describe('SAGA_MTLS_PEERS', () => {
  it('binds names to services, tenants or both', () => {
    const bindings = parsePeerBindings(
      'orders.internal=service:orders, spiffe://acme/billing = tenant:acme,orders.internal=tenant:acme',
    )
    expect(Object.fromEntries(bindings ?? [])).toEqual({
      'orders.internal': { name: 'orders.internal', service: 'orders', tenants: ['acme'] },
      'spiffe://acme/billing': { name: 'spiffe://acme/billing', service: null, tenants: ['acme'] },
    })
  })

  it('closes a tenant with bound peers for peers that are bound only to a service', () => {
    const bindings = parsePeerBindings('orders=service:orders, both=service:orders, both=tenant:acme')
    const report = (name: string, tenant: string) => () => {
      const peer = bindings?.get(name)
      if (!peer) throw new Error(`${name} is not bound`)
      requireOwn(peer, tenant, { operation: 'SagaStarted', sagaId: 's', serviceName: 'orders' })
    }
    expect(report('orders', 'acme')).toThrow('does not report for tenant acme')
    expect(report('orders', 'default')).not.toThrow()
    expect(report('orders', 'globex')).not.toThrow()
    expect(report('both', 'acme')).not.toThrow()
  })

  it.each(['', 'orders', 'orders=', 'orders=service:', 'orders=user:1', 'a=service:b,,c=tenant:d'])(
    'is not %j',
    (text) => {
      expect(parsePeerBindings(text)).toBeNull()
    },
  )
})

describe('the names of a certificate', () => {
  const subject = (CN: string) => ({ CN }) as never

  it.each([
    [
      'DNS:orders.internal, IP Address:10.0.0.1, URI:spiffe://acme/orders',
      ['orders.internal', 'spiffe://acme/orders'],
    ],
    ['IP Address:10.0.0.1', ['common']],
    ['', ['common']],
    // Text within a quoted value is not a name, whatever it looks like.
    ['DirName:"/CN=x, DNS:evil"', ['common']],
    ['URI:"https://a/, DNS:evil"', ['https://a/, DNS:evil']],
  ])('with subjectAltName %s are %j', (subjectaltname, names) => {
    expect(certificateNames({ subjectaltname, subject: subject('common') })).toEqual(names)
  })

  it('are empty without any entry', () => {
    expect(certificateNames({})).toEqual([])
  })
})

describe('a bound peer', () => {
  const peer = { name: 'p', service: 'orders', tenants: ['acme'] }
  const start = (serviceName: string) => ({ operation: 'SagaStarted', sagaId: 's', serviceName }) as const
  const end = (serviceName: string) => ({ operation: 'SagaEnded', sagaId: 's', serviceName }) as const

  it('may report for its service and tenant', () => {
    for (const event of [start('orders'), start(''), end('orders'), end('2020-03-09 05:13:08.123')]) {
      expect(() => requireOwn(peer, 'acme', event)).not.toThrow()
    }
  })

  it('may not report for others', () => {
    expect(() => requireOwn(peer, 'default', start('orders'))).toThrow('tenant acme only')
    expect(() => requireOwn(peer, 'acme', start('billing'))).toThrow('service orders only')
    expect(() => requireOwn(peer, 'acme', end('billing'))).toThrow('service orders only')
  })
})
