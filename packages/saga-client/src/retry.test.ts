import { Metadata, type ServiceError, status } from '@grpc/grpc-js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isRetryable, retryDelayMs, retryInfoMs } from './retry.js'

const failure = (
  code: status,
  { info, details = '' }: { info?: Buffer; details?: string } = {},
): ServiceError => {
  const metadata = new Metadata()
  if (info) metadata.set('grpc-status-details-bin', info)
  return Object.assign(new Error(details), { code, details, metadata })
}

const field = (tag: number, bytes: Uint8Array) => Buffer.concat([Buffer.from([tag, bytes.length]), bytes])
/** google.rpc.Status with a RetryInfo of 1.5 s after a detail of another kind. */
const info = Buffer.concat([
  Buffer.from([0x08, 14]),
  field(0x1a, field(0x0a, Buffer.from('type.googleapis.com/google.rpc.DebugInfo'))),
  field(
    0x1a,
    Buffer.concat([
      field(0x0a, Buffer.from('type.googleapis.com/google.rpc.RetryInfo')),
      field(0x12, field(0x0a, Buffer.from([0x08, 1, 0x10, 0x80, 0xca, 0xb5, 0xee, 0x01]))),
    ]),
  ),
])

describe('a failure', () => {
  it.each([
    ['an absent reporter', failure(status.UNAVAILABLE), true],
    ['a passed deadline', failure(status.DEADLINE_EXCEEDED), true],
    ['too many events', failure(status.RESOURCE_EXHAUSTED, { info }), true],
    ['too many calls on a connection', failure(status.RESOURCE_EXHAUSTED), true],
    [
      'a message that is too large',
      failure(status.RESOURCE_EXHAUSTED, { details: 'Received message larger than max (5 vs. 4)' }),
      false,
    ],
    ['a cut connection', failure(status.INTERNAL, { details: 'Received RST_STREAM with code 2' }), true],
    ['a defect of the reporter', failure(status.INTERNAL, { details: 'internal error' }), false],
    ['a wrong token', failure(status.UNAUTHENTICATED), false],
    ['a wrong tenant', failure(status.PERMISSION_DENIED), false],
  ])('by %s is repeated or not', (_what, error, repeated) => {
    expect(isRetryable(error)).toBe(repeated)
  })
})

describe('the wait', () => {
  const delays = { firstMs: 100, lastMs: 5000 }

  it('doubles with jitter up to its limit', () => {
    const waits = (chance: number) =>
      [1, 2, 3, 10, 60].map((attempt) => retryDelayMs(failure(status.UNAVAILABLE), attempt, delays, chance))
    expect(waits(1)).toEqual([100, 200, 400, 5000, 5000])
    expect(waits(0)).toEqual([50, 100, 200, 2500, 2500])
  })

  it('is never shorter than the reporter asked for', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (attempt, chance) => {
          expect(
            retryDelayMs(failure(status.UNAVAILABLE, { info }), attempt, delays, chance),
          ).toBeGreaterThanOrEqual(1500)
        },
      ),
    )
  })

  it('is read from RetryInfo, and from nothing else', () => {
    expect(retryInfoMs(failure(status.UNAVAILABLE, { info }))).toBe(1500)
    expect(retryInfoMs(failure(status.UNAVAILABLE))).toBeNull()
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), (bytes) => {
        expect(retryInfoMs(failure(status.UNAVAILABLE, { info: Buffer.from(bytes) }))).toBeNull()
      }),
    )
  })
})
