import { join } from 'node:path'
import { redisOptions } from '@switchyard/config'
import { type Progress, SolvableProblem } from '@switchyard/terminal'
import { Redis } from 'ioredis'
import pg from 'pg'
import { startPostgres } from '../postgres.js'
import { startRedis } from '../redis.js'
import { getRedisServer } from '../tools/servers.js'
import type { Settings } from './settings.js'

/**
 * A server that the services need: an embedded one, which stops with `npm start`, or an external one with a
 * configured URL.
 */
export interface BackingService {
  url: string
  embedded: boolean
  stop(): Promise<void>
  kill(): void
}

const external = (url: string): BackingService => ({
  url,
  embedded: false,
  stop: async () => {},
  kill: () => {},
})

/** Opens PostgreSQL: the server of DATABASE_URL when it is set, otherwise the embedded server. */
export async function openDatabase(settings: Settings, progress: Progress): Promise<BackingService> {
  if (settings.databaseUrl) {
    await checkDatabaseUrl(settings.databaseUrl)
    return external(settings.databaseUrl)
  }
  const { url, process, stop } = await startPostgres({
    dataDir: join(settings.dataDir, 'postgres'),
    logFile: join(settings.dataDir, 'logs', 'postgresql.log'),
    log: progress.notice,
  })
  return { url, embedded: true, stop, kill: () => process.kill() }
}

/** Opens Redis: the server of REDIS_URL when it is set, otherwise the embedded server. */
export async function openRedis(settings: Settings, progress: Progress): Promise<BackingService> {
  if (settings.redisUrl) {
    await checkRedisUrl(settings.redisUrl)
    return external(settings.redisUrl)
  }
  const { url, process, stop } = await startRedis({
    dataDir: join(settings.dataDir, 'redis'),
    logFile: join(settings.dataDir, 'logs', 'redis.log'),
    server: await getRedisServer(settings.toolsDir, progress.notice),
    log: progress.notice,
  })
  return { url, embedded: true, stop, kill: () => process.kill() }
}

const databaseHints: Record<string, string> = {
  '28P01': 'user or password is wrong',
  '28000': 'the server refuses this user',
  '3D000': 'the database does not exist: create it first',
}

async function checkDatabaseUrl(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5000 })
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    const reason = databaseHints[code] ?? networkHint(code) ?? message
    throw new SolvableProblem(
      `DATABASE_URL (${hostAndPath(connectionString)}): ${reason}. Put it right, or unset it`,
    )
  } finally {
    await client.end().catch(() => {})
  }
}

async function checkRedisUrl(url: string): Promise<void> {
  const redis = new Redis({
    ...redisOptions(url),
    lazyConnect: true,
    retryStrategy: null,
    sentinelRetryStrategy: () => null,
    connectTimeout: 5000,
  })
  let failure: Error | undefined
  redis.on('error', (error) => {
    failure ??= error
  })
  try {
    await redis.connect()
    await redis.ping()
  } catch (error) {
    const { code = '', message } = (failure ?? error) as NodeJS.ErrnoException
    const refused = /NOAUTH|WRONGPASS|invalid password/i.test(message)
      ? 'user or password is wrong'
      : undefined
    const reason = refused ?? networkHint(code) ?? message
    throw new SolvableProblem(`REDIS_URL (${hostAndPath(url)}): ${reason}. Put it right, or unset it`)
  } finally {
    redis.disconnect()
  }
}

function networkHint(code: string): string | undefined {
  if (code === 'ECONNREFUSED' || code === 'ENOENT') return 'nothing listens there'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'the host name is unknown'
  if (code === 'ETIMEDOUT') return 'no answer'
  return undefined
}

/** Returns host and path of a URL, without the password and the query. */
function hostAndPath(url: string): string {
  const [address = ''] = url.split('?')
  return address.replace(/^[^:]+:\/\/(?:[^@/]*@)?/, '')
}
