import { createMetrics } from '@switchyard/service-kit/observability'
import { expect, it } from 'vitest'
import { StreamQuota } from './stream-quota.js'

it('a stream that begins during shutdown ends at once and is not refused, because a browser does not reconnect after a refusal', () => {
  const streams = new StreamQuota({ total: 1, perToken: 1, perAddress: 1 }, createMetrics('test'))
  streams.close()
  const owner = { token: 'token 1', address: '127.0.0.1' }
  expect(streams.open('sse', owner, new AbortController().signal).ending.signal.aborted).toBe(true)
})
