import { readFileSync } from 'node:fs'
import type { Redis } from 'ioredis'

const fixture = new URL('../fixtures/sidekiq-dumps.txt', import.meta.url)

/** Loads every key of a section of the dumps into a Redis. */
export async function loadSidekiqDump(redis: Redis, version: string): Promise<void> {
  const section = readFileSync(fixture, 'utf8')
    .split(/^#{16} /m)
    .find((text) => text.includes(`Sidekiq ${version} `))
  if (!section) throw new Error(`there is no dump of ${version}`)
  for (const block of section.split(/^KEY {2}/m).slice(1)) {
    const [head = '', ...lines] = block.split('\n')
    const [, key = '', type = '', pttl = ''] = /^(.+?) +type=(\w+) pttl=(-?\d+)/.exec(head) ?? []
    const values = lines.flatMap((line) => /^(?:\s*\d+\) )?(".*")$/.exec(line)?.[1] ?? []).map(unquote)
    await create(redis, type, key, values)
    if (Number(pttl) > 0) await redis.pexpire(key, pttl)
  }
}

/** Decodes text as redis-cli quotes it. */
const unquote = (text: string): Buffer =>
  Buffer.from(
    text
      .slice(1, -1)
      .replace(/\\(x[0-9a-f]{2}|.)/g, (_all, code: string) =>
        code.startsWith('x') && code.length === 3
          ? String.fromCharCode(Number.parseInt(code.slice(1), 16))
          : ({ n: '\n', r: '\r', t: '\t' }[code] ?? code),
      ),
    'latin1',
  )

async function create(redis: Redis, type: string, key: string, values: Buffer[]): Promise<void> {
  if (type === 'string') await redis.set(key, values[0] ?? '')
  else if (type === 'list') await redis.rpush(key, ...values)
  else if (type === 'set') await redis.sadd(key, ...values)
  else if (type === 'hash') await redis.hset(key, ...values)
  else if (type === 'zset') {
    for (let index = 0; index < values.length; index += 2) {
      await redis.zadd(key, String(values[index + 1]), values[index] ?? '')
    }
  } else throw new Error(`the dump has the unknown type ${type}`)
}
