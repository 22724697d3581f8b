import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { getRedisServer, toolsFolder } from '@switchyard/local-servers'
import { Redis } from 'ioredis'

const tools = toolsFolder(resolve(import.meta.dirname, '../..'))

export interface BenchRedis {
  path: string
  client: Redis
  stop(): Promise<void>
}

/** Starts a private server in memory only, on a unix socket. */
export async function startRedis(): Promise<BenchRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-bench-'))
  const path = join(folder, 'redis.sock')
  const program = await getRedisServer(tools, console.error)
  const args = [
    '--port',
    '0',
    '--unixsocket',
    path,
    '--save',
    '',
    '--dir',
    folder,
    '--busy-reply-threshold',
    '0',
  ]
  const server: ChildProcess = spawn(program, args, { stdio: 'ignore' })
  const client = new Redis({ path, maxRetriesPerRequest: null, retryStrategy: () => 50 })
  client.on('error', () => {})
  await client.ping()
  return {
    path,
    client,
    async stop() {
      client.disconnect()
      server.kill('SIGKILL')
      await new Promise((done) => server.once('exit', done))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
