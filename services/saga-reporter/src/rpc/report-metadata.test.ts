import { Metadata } from '@grpc/grpc-js'
import { describe, expect, it } from 'vitest'
import { readReportMetadata } from './report-metadata.js'

function read(entries: Record<string, string>) {
  const metadata = new Metadata()
  for (const [key, value] of Object.entries(entries)) metadata.set(key, value)
  return readReportMetadata(metadata)
}

describe('what a caller says of an event', () => {
  it('is the default tenant, no id and no time without metadata', () => {
    const nothing = { tenant: 'default', eventId: null, eventTime: null }
    expect(read({})).toEqual(nothing)
    expect(read({ 'x-tenant': ' ', 'x-event-id': '', 'x-event-time': '' })).toEqual(nothing)
  })

  it('is read from x-tenant, x-event-id and x-event-time', () => {
    expect(
      read({ 'x-tenant': ' acme ', 'x-event-id': 'e-1', 'x-event-time': '2026-01-02T03:04:05.678Z' }),
    ).toEqual({ tenant: 'acme', eventId: 'e-1', eventTime: new Date('2026-01-02T03:04:05.678Z') })
  })

  it('does without a time that cannot be read', () => {
    expect(read({ 'x-event-time': 'yesterday' }).eventTime).toBeNull()
  })

  it('refuses a tenant or an id that no key could hold', () => {
    expect(() => read({ 'x-event-id': 'e'.repeat(129) })).toThrow('x-event-id is too long')
    expect(() => read({ 'x-tenant': 't'.repeat(129) })).toThrow('x-tenant is too long')
  })
})
