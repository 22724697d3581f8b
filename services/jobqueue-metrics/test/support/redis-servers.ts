import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitFor } from '@switchyard/testing'
import { execa } from 'execa'
import { Redis, type RedisOptions } from 'ioredis'

const program = process.env.SWITCHYARD_TEST_REDIS_SERVER ?? 'redis-server'

/** Creates servers on loopback ports, for features that a unix socket does not have. */
export async function createRedisServers() {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-servers-'))
  const servers: ReturnType<typeof execa>[] = []
  const clients: Redis[] = []

  function client(port: number, options: RedisOptions = {}): Redis {
    const redis = new Redis({ port, host: '127.0.0.1', maxRetriesPerRequest: null, ...options })
    redis.on('error', () => {})
    clients.push(redis)
    return redis
  }

  return {
    folder,
    client,
    /**
     * Starts a server, waits until it answers, and returns a function that ends it. Rejects with its output
     * when it ends instead.
     */
    async start(port: number, args: string[], options: RedisOptions = {}) {
      const own = await mkdtemp(join(folder, 'data-'))
      const server = execa(program, [...args, '--dir', own], { reject: false, all: true, stdin: 'ignore' })
      servers.push(server)
      const probe = client(port, options)
      const ended = server.then(({ all }) => Promise.reject(new Error(`Redis on ${port} ended: ${all}`)))
      ended.catch(() => {})
      const answers = waitFor(async () => (await probe.ping()) === 'PONG', { what: `Redis on ${port}` })
      await Promise.race([answers, ended])
      return { redis: probe, kill: () => server.kill('SIGKILL') }
    },
    async stop() {
      for (const redis of clients) redis.disconnect()
      for (const server of servers) server.kill('SIGKILL')
      await Promise.all(servers)
      await rm(folder, { recursive: true, force: true })
    },
  }
}
