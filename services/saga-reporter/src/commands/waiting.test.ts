import type { Pooled } from '@switchyard/db'
import type { Logger } from '@switchyard/service-kit/observability'
import { expect, it, vi } from 'vitest'
import { CommandWaiting } from './waiting.js'

it('an outage of the database is logged once while calls wait, and its end as well', async () => {
  const query = vi.fn().mockRejectedValue(new Error('away'))
  const logger = { warn: vi.fn(), info: vi.fn() }
  const waiting = new CommandWaiting({
    database: { pool: { query } } as unknown as Pooled,
    logger: logger as unknown as Logger,
  })
  const wanted = { tenant: 'default', serviceName: 'booking', exceptIds: new Set<string>() }
  const waited = waiting.wait(wanted, 60_000, new AbortController().signal)
  await vi.waitFor(() => expect(query.mock.calls.length).toBeGreaterThan(2), { timeout: 20_000 })
  query.mockResolvedValue({ rows: [], rowCount: 0 })
  await vi.waitFor(() => expect(logger.info).toHaveBeenCalledOnce(), { timeout: 20_000 })
  waiting.close()
  await waited
  expect(logger.warn).toHaveBeenCalledOnce()
}, 60_000)
