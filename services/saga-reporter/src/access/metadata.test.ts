import { Metadata } from '@grpc/grpc-js'
import { describe, expect, it } from 'vitest'
import { addressOf, checkMetadata } from './metadata.js'

const metadataOf = (...pairs: [key: string, value: string][]) => {
  const metadata = new Metadata()
  for (const [key, value] of pairs) metadata.add(key, value)
  return metadata
}

const check = (metadata: Metadata, droppedKeys: string[] = []) => checkMetadata({ metadata, droppedKeys })

describe.each([
  'authorization',
  'private-token',
  'x-tenant',
  'x-event-id',
  'x-event-time',
  'x-event-seq',
  'x-attempt',
])('%s', (key) => {
  const refusal = expect.objectContaining({
    kind: 'invalid-parameters',
    detail: `${key} must have one value, without a comma`,
  })

  it('may have only one value', () => {
    expect(() => check(metadataOf([key, 'one value']))).not.toThrow()
  })

  it.each([
    ['two fields', [[key, 'a'] as const, [key, 'b'] as const]],
    ['two fields that HTTP has joined', [[key, 'a, b'] as const]],
    ['a list', [[key, 'a,b'] as const]],
  ])('is refused as %s', (_what, pairs) => {
    const metadata = metadataOf(...pairs.map(([name, value]): [string, string] => [name, value]))
    expect(() => check(metadata)).toThrow(refusal)
  })
})

it('may have several tags', () => {
  expect(() => check(metadataOf(['x-tag', 'a=1'], ['x-tag', 'b=2,c=3']))).not.toThrow()
})

describe('a value that the library cannot read', () => {
  it.each(['authorization', 'private-token', 'x-tenant', 'x-event-id', 'x-tag', 'traceparent'])(
    'is refused as %s',
    (key) => {
      expect(() => check(metadataOf(), [key])).toThrow(`${key} must be printable ASCII`)
      const asBytes = new Metadata()
      asBytes.set(`${key}-bin`, Buffer.from('é'))
      expect(() => check(asBytes)).toThrow(`${key}-bin is not supported; a batch takes texts beyond ASCII`)
    },
  )

  it('is ignored under a key that is not read', () => {
    expect(() => check(metadataOf(), ['x-customer'])).not.toThrow()
  })
})

describe('the address of a caller', () => {
  const trustsProxy = (address: string) => ['10.1.2.3', '::1'].includes(address)

  it.each([
    ['203.0.113.9:4000', undefined, '203.0.113.9'],
    ['203.0.113.9:4000', '198.51.100.1', '203.0.113.9'],
    ['10.1.2.3:4000', '198.51.100.1', '198.51.100.1'],
    ['10.1.2.3:4000', '192.0.2.1, 198.51.100.1', '198.51.100.1'],
    ['10.1.2.4:4000', '198.51.100.1', '10.1.2.4'],
    ['127.0.0.1:4000', '198.51.100.1', '127.0.0.1'],
    ['::1:4000', '2001:db8::1', '2001:db8::1'],
    ['10.1.2.3:4000', 'nonsense', '10.1.2.3'],
    ['10.1.2.3:4000', undefined, '10.1.2.3'],
    ['unknown', '198.51.100.1', 'unknown'],
  ])('of %s with %s is %s', (peer, forwarded, address) => {
    const metadata = forwarded === undefined ? metadataOf() : metadataOf(['x-forwarded-for', forwarded])
    expect(addressOf(metadata, peer, trustsProxy)).toBe(address)
  })
})
