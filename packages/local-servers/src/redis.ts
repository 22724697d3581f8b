import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SolvableProblem } from '@switchyard/terminal'
import { Redis } from 'ioredis'
import { endProcess, findCommandLine } from './process/find-process.js'
import { rotateLog } from './process/log-file.js'
import { type SupervisedProcess, supervise } from './process/supervised-process.js'
import { waitForServer } from './process/wait-for-server.js'
import { redisUsers } from './redis-users.js'
import { makeSocketFolder } from './socket-folder.js'

export interface RedisOptions {
  /** Absolute path of the folder for the append-only file and the log. A missing folder is created. */
  dataDir: string
  /** Path of the program, from `getRedisServer`. */
  server: string
  logFile?: string
  log: (line: string) => void
}

export interface RunningRedis {
  /** `unix:///…/redis.sock`, without a user, so with all rights. */
  url: string
  process: SupervisedProcess
  stop(): Promise<void>
}

/** Starts a Redis server on a unix socket, without a port. Its data survives restarts. */
export async function startRedis(options: RedisOptions): Promise<RunningRedis> {
  const { dataDir, logFile = join(dataDir, 'redis.log') } = options
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const socket = join(makeSocketFolder(dataDir, 'redis.sock'), 'redis.sock')
  const pidFile = join(dataDir, 'redis.pid')
  await clearOrphan(pidFile, socket)
  rotateLog(logFile)
  const usersFile = join(dataDir, 'users.acl')
  writeFileSync(usersFile, redisUsers, { mode: 0o600 })
  const child = supervise({
    name: 'redis',
    command: options.server,
    args: serverArguments({ dataDir, socket, pidFile, usersFile }),
    cwd: dataDir,
    logFile,
    notice: options.log,
  })
  try {
    await waitForServer('Redis', child, () => answers(socket))
  } catch (error) {
    await child.stop()
    throw error
  }
  return { url: `unix://${socket}`, process: child, stop: () => child.stop() }
}

function serverArguments({ dataDir, socket, pidFile, usersFile }: Record<ServerFile, string>): string[] {
  const settings = {
    port: '0',
    unixsocket: socket,
    unixsocketperm: '700',
    dir: dataDir,
    pidfile: pidFile,
    aclfile: usersFile,
    daemonize: 'no',
    appendonly: 'yes',
    save: '',
    // Queues must not lose keys to make room.
    'maxmemory-policy': 'noeviction',
  }
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
}

type ServerFile = 'dataDir' | 'socket' | 'pidFile' | 'usersFile'

async function clearOrphan(pidFile: string, socket: string): Promise<void> {
  if (!existsSync(pidFile)) return
  const pid = Number(readFileSync(pidFile, 'utf8'))
  // Process ids are reused. The title of a Redis process contains its socket.
  if (findCommandLine(pid)?.includes(socket) && !(await endProcess(pid, 'SIGTERM', 10_000))) {
    throw new SolvableProblem(`Redis of an earlier start does not stop: end process ${pid} and start again`)
  }
  rmSync(pidFile, { force: true })
}

async function answers(path: string): Promise<boolean> {
  if (!existsSync(path)) return false
  const redis = new Redis({ path, lazyConnect: true, retryStrategy: null, enableReadyCheck: false })
  redis.on('error', () => {})
  try {
    await redis.connect()
    return (await redis.ping()) === 'PONG'
  } catch {
    return false
  } finally {
    redis.disconnect()
  }
}
