import { join, resolve } from 'node:path'
import { startRedis } from '../../../packages/dev-env/src/redis.js'
import { findRedisServer } from '../../../packages/dev-env/src/tools/redis-server.js'
import { startLink } from '../../../services/saga-reporter/test/cuttable-link.js'
import { Reporter } from './reporter.js'
import { startServer } from './server.js'
import { Traffic } from './traffic.js'

const toolsDir = resolve(import.meta.dirname, '../../../.switchyard/tools')

/** What the clock of the first reporter does with each signal, in hours from now. */
export const clockJumps = [36, -36, 0]

export type Scene = Awaited<ReturnType<typeof startScene>>

/**
 * PostgreSQL, Redis and two reporters with traffic on both. The first reporter has a link to PostgreSQL that can fail,
 * and a clock that jumps with SIGUSR2.
 *
 * @param parent folder for all data
 */
export async function startScene(parent?: string) {
  const server = await startServer(parent)
  const redis = await startRedis({
    dataDir: join(server.folder, 'redis'),
    server: await findRedisServer(toolsDir),
    log: () => {},
  })
  const database = await server.createDatabase()
  const link = await startLink(database.url)
  const env = { REDIS_URL: redis.url, CLOCK_JUMPS: clockJumps.join() }
  const preload = resolve(import.meta.dirname, 'jumping-clock.mjs')
  const reporters = await Promise.all([
    Reporter.start({ databaseUrl: link.url, env, preload }),
    Reporter.start({ databaseUrl: database.url, env }),
  ])
  const traffic = new Traffic({ addresses: reporters.map(({ address }) => address) })
  return {
    server,
    redis,
    link,
    reporters,
    traffic,
    databaseUrl: database.url,
    async stop() {
      await traffic.abandon()
      for (const reporter of reporters) await reporter.end('SIGKILL')
      link.close()
      redis.process.kill()
      await server.stop()
    },
  }
}
