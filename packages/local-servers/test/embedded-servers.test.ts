import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { startPostgres } from '../src/postgres.js'
import { startRedis } from '../src/redis.js'

const folder = mkdtempSync(join(tmpdir(), 'switchyard-embedded-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function query(connectionString: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

describe('the embedded PostgreSQL', () => {
  const dataDir = join(folder, 'postgres')

  it('has a UTF-8 database, a private password, and keeps both', async () => {
    const first = await startPostgres({ dataDir, log: () => {} })
    await query(first.url, "CREATE TABLE kept AS SELECT 'ä€😀' AS text")
    expect(await query(first.url, 'SHOW server_encoding')).toEqual([{ server_encoding: 'UTF8' }])
    expect(await query(first.url, 'SHOW fsync')).toEqual([{ fsync: 'on' }])
    await first.stop()
    expect(statSync(join(dataDir, 'password')).mode & 0o777).toBe(0o600)

    const second = await startPostgres({ dataDir, log: () => {} })
    try {
      expect(await query(second.url, 'SELECT text FROM kept')).toEqual([{ text: 'ä€😀' }])
      const password = readFileSync(join(dataDir, 'password'), 'utf8')
      const wrong = second.url.replace(password, 'wrong')
      await expect(query(wrong, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' })
    } finally {
      await second.stop()
    }
  })
})

describe('the embedded Redis', () => {
  it('listens only on a private socket and keeps its data through kill -9', async () => {
    const dataDir = join(folder, 'redis')
    const notices: string[] = []
    const server = process.env.SWITCHYARD_TEST_REDIS_SERVER ?? 'redis-server'
    const running = await startRedis({ dataDir, server, log: (line) => notices.push(line) })
    const redis = new Redis(running.url)
    redis.on('error', () => {})
    try {
      expect(await redis.config('GET', 'port')).toEqual(['port', '0'])
      expect(await redis.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction'])
      expect(statSync(join(dataDir, 'run')).mode & 0o777).toBe(0o700)
      await redis.set('kept', 'yes')
      // A write reaches the file before the answer; only a crash of the machine may lose a second.
      process.kill(running.process.pid() ?? 0, 'SIGKILL')
      await expect.poll(() => redis.get('kept').catch(() => null)).toBe('yes')
      expect(notices).toEqual([
        expect.stringContaining('redis was ended by SIGKILL; starting again in 0.25 s'),
      ])
    } finally {
      redis.disconnect()
      await running.stop()
    }
  })
})
