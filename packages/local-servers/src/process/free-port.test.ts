import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { getFreePort } from './free-port.js'

it('ports are free, different, and below those that systems assign by themselves', async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, getFreePort))
  expect(new Set(ports).size).toBe(50)
  // Windows and macOS start at 49,152, Linux at 32,768; a Redis cluster's bus is 10,000 above its port.
  expect(Math.max(...ports) + 10_000).toBeLessThan(32_768)
  for (const port of ports) {
    const server = createServer().listen(port, '127.0.0.1')
    await once(server, 'listening')
    server.close()
  }
})
