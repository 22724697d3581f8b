import { Metadata } from '@grpc/grpc-js'
import { describe, expect, it } from 'vitest'
import { readReportMetadata } from './decode.js'

function read(entries: Record<string, string>) {
  const metadata = new Metadata()
  for (const [key, value] of Object.entries(entries)) metadata.set(key, value)
  return readReportMetadata(metadata)
}

describe('the metadata of an event', () => {
  it('is the default tenant, no id and no time when none is sent', () => {
    const nothing = {
      tenant: 'default',
      eventId: null,
      eventTime: null,
      eventSeq: null,
      attempt: null,
      traceParent: null,
      parentSagaId: null,
      tags: [],
    }
    expect(read({})).toEqual(nothing)
    expect(read({ 'x-tenant': ' ', 'x-event-id': '', 'x-event-time': '' })).toEqual(nothing)
  })

  it('is read from x-tenant, x-event-id and x-event-time', () => {
    expect(
      read({ 'x-tenant': ' acme ', 'x-event-id': 'e-1', 'x-event-time': '2026-01-02T03:04:05.678Z' }),
    ).toMatchObject({ tenant: 'acme', eventId: 'e-1', eventTime: new Date('2026-01-02T03:04:05.678Z') })
  })

  it('is read from x-event-seq, x-attempt, traceparent and every x-tag', () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const metadata = new Metadata()
    const sent = [
      ['x-event-seq', '7'],
      ['x-attempt', '2'],
      ['traceparent', traceparent],
      ['x-parent-saga-id', ' order/1 '],
      ['x-tag', 'order=42'],
      ['x-tag', ' order=42 '],
      ['x-tag', 'region=eu=1'],
      ['x-tag', 'nothing'],
    ] as const
    for (const [key, value] of sent) metadata.add(key, value)
    expect(readReportMetadata(metadata)).toMatchObject({
      eventSeq: 7,
      attempt: 2,
      traceParent: traceparent,
      parentSagaId: 'order/1',
      tags: ['order=42', 'region=eu=1'],
    })
  })

  it.each([
    ['a=1, b=2,c=3', ['a=1', 'b=2', 'c=3']],
    ['note=red, white and blue', ['note=red, white and blue']],
    ['note=red, white, a=1,', ['note=red, white', 'a=1,']],
    [', a=1', ['a=1']],
  ])('finds the tags that HTTP joined in %j', (joined, tags) => {
    expect(read({ 'x-tag': joined }).tags).toEqual(tags)
  })

  it.each(['-1', '1.5', 'one', '1e3', `${2 ** 31}`])('does without the attempt %s', (text) => {
    expect(read({ 'x-attempt': text }).attempt).toBeNull()
  })

  it('has no trace when the given one is invalid', () => {
    expect(read({ traceparent: '00-xyz-01' }).traceParent).toBeNull()
  })

  it('has no time when the given one is unreadable', () => {
    expect(read({ 'x-event-time': 'yesterday' }).eventTime).toBeNull()
  })

  it('refuses a tenant or an id that cannot be a key', () => {
    expect(() => read({ 'x-event-id': 'e'.repeat(129) })).toThrow('x-event-id is too long')
    expect(() => read({ 'x-tenant': 't'.repeat(129) })).toThrow('x-tenant is too long')
  })
})
