import { createServiceContext } from '@switchyard/service-kit/lifecycle'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { configSchema } from '../src/config.js'
import { createService } from '../src/service.js'

const context = createServiceContext('admin-broadcast', 'silent')
let baseUrl: string

beforeAll(async () => {
  // No server listens on port 1.
  const url = 'postgresql://switchyard:hunter2@127.0.0.1:1/switchyard'
  const { port } = await createService(
    configSchema.parse({ DATABASE_URL: url, REDIS_URL: 'redis://127.0.0.1:1', PORT: '0' }),
    context,
  )
  baseUrl = `http://127.0.0.1:${port}`
})
afterAll(() => context.lifecycle.close())

it('the service starts without its database, and says which part is missing', async () => {
  const response = await fetch(`${baseUrl}/-/readiness`)
  expect(response.status).toBe(503)
  const { checks } = (await response.json()) as { checks: Record<string, string> }
  expect(checks.postgres).toContain('database does not answer')
  expect(checks.postgres).not.toContain('hunter2')
})

it.each(['/broadcast_messages/active', '/broadcast_messages'])(
  'answers 503, not 500, while its database is unreachable: %s',
  async (path) => {
    const response = await fetch(`${baseUrl}/api/v4${path}`, { headers: { 'PRIVATE-TOKEN': 'any' } })
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({ message: '503 Service Unavailable' })
  },
)
