import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RedisService, redisUrlOf, redisUsers } from '@switchyard/local-servers/redis-users'
import { execa, type ResultPromise } from 'execa'
import { Redis } from 'ioredis'
import { waitFor } from './wait-for.js'

export interface TestRedis {
  /** `unix:///path/to/redis.sock`, without a user, so with all rights. */
  url: string
  /** Returns the URL for the user of a service, who has only the rights of that service. */
  urlOf(service: RedisService): string
  /** Path of the socket. */
  path: string
  /** Ends the server and deletes its data. */
  stop(): Promise<void>
  /** Kills the server with SIGKILL. Its data stays for `restart`. */
  kill(): Promise<void>
  /** Stops the server if it runs, and starts it again with its data. */
  restart(): Promise<void>
}

/** Longest path of a unix socket, including the final NUL. */
const socketPathBytesMax = 108

/**
 * Starts a Redis server for one test file, on a unix socket that only this user can access, with an
 * append-only file.
 */
export async function startTestRedis(): Promise<TestRedis> {
  const folder = await createSocketFolder()
  const path = join(folder, 'redis.sock')
  let running = await launch(folder, path).catch(async (error: unknown) => {
    await rm(folder, { recursive: true, force: true })
    throw error
  })

  async function end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    running.server.kill(signal)
    await running.server
  }

  return {
    url: `unix://${path}`,
    urlOf: (service) => redisUrlOf(`unix://${path}`, service),
    path,
    async stop() {
      await end('SIGTERM')
      await rm(folder, { recursive: true, force: true })
    },
    kill: () => end('SIGKILL'),
    async restart() {
      await end('SIGTERM')
      running = await launch(folder, path)
    },
  }
}

async function createSocketFolder(): Promise<string> {
  // The mode 0700 of mkdtemp keeps other users from the socket.
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-redis-'))
  if (Buffer.byteLength(join(folder, 'redis.sock')) < socketPathBytesMax) return folder
  await rm(folder, { recursive: true })
  return mkdtemp('/tmp/switchyard-redis-')
}

/** A running server, which is a promise that resolves when the server ends. */
type Server = Promise<unknown> & Pick<ResultPromise, 'kill'>

/** Starts the server. Returns it in an object, because awaiting the server itself would wait for its end. */
async function launch(folder: string, path: string): Promise<{ server: Server }> {
  // A killed server leaves its socket behind.
  await rm(path, { force: true })
  const program = process.env.SWITCHYARD_TEST_REDIS_SERVER ?? 'redis-server'
  const settings = ['--dir', folder, '--appendonly', 'yes', '--save', '', '--maxmemory-policy', 'noeviction']
  const usersFile = join(folder, 'users.acl')
  await writeFile(usersFile, redisUsers)
  const args = [
    '--aclfile',
    usersFile,
    '--port',
    '0',
    '--unixsocket',
    path,
    '--unixsocketperm',
    '700',
    ...settings,
  ]
  const server = execa(program, args, { reject: false, all: true, stdin: 'ignore' })
  const failedStart = server.then((result) => {
    throw new Error(`${program} did not start: ${result.all || result.shortMessage}`)
  })
  failedStart.catch(() => {})
  let ended = false
  server.finally(() => {
    ended = true
  })
  const answering = waitFor(() => ended || answers(path), { what: 'Redis to answer' })
  try {
    await Promise.race([answering, failedStart])
  } catch (error) {
    server.kill('SIGKILL')
    throw error
  }
  return { server }
}

async function answers(path: string): Promise<boolean> {
  const redis = new Redis({ path, lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 })
  redis.on('error', () => {})
  try {
    await redis.connect()
    return (await redis.ping()) === 'PONG'
  } finally {
    redis.disconnect()
  }
}
