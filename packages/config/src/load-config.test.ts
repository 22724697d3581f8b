import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { baseUrl, ConfigError, databaseUrl, integer, loadConfig, port, redisUrl, Secret } from './index.js'

const schema = z.object({
  PORT: port().default(8080),
  POOL_SIZE: integer(1, 9).default(1),
  DATABASE_URL: databaseUrl(),
  REDIS_URL: redisUrl().optional(),
  GRPC_PORT: port(),
  TIERS: z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(z.enum(['one', 'two'])))
    .optional(),
})

const problemsOf = (env: NodeJS.ProcessEnv): string => {
  try {
    loadConfig('demo', schema, env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return ''
}

describe('loadConfig', () => {
  it('names every invalid variable, at once', () => {
    const problems = problemsOf({ PORT: 'eighty', GRPC_PORT: '70000', POOL_SIZE: '12' })
    expect(problems).toContain('PORT: must be a whole number')
    expect(problems).toContain('GRPC_PORT: must be at most 65535')
    expect(problems).toContain('POOL_SIZE: must be at most 9')
    expect(problems).toContain('DATABASE_URL is required: must be postgresql://')
  })

  it('never shows a value, which may be a secret in the wrong place', () => {
    expect(problemsOf({ DATABASE_URL: 'mysql://me:hunter2@db/x', GRPC_PORT: '1' })).not.toContain('hunter2')
  })

  it('does not report a part of a set variable as missing', () => {
    expect(problemsOf({ TIERS: 'one,three' })).toMatch(/^ {2}TIERS\.1: /m)
  })

  it('reads an empty variable as unset', () => {
    const config = loadConfig('demo', schema, { PORT: '', GRPC_PORT: '1', DATABASE_URL: 'postgres://db/x' })
    expect(config.PORT).toBe(8080)
  })
})

describe('baseUrl', () => {
  const address = z.object({ EXTERNAL_URL: baseUrl('https://switchyard.example.com') })
  const read = (value: string) => loadConfig('demo', address, { EXTERNAL_URL: value }).EXTERNAL_URL

  it.each([
    ['https://example.com', 'https://example.com'],
    ['https://example.com/', 'https://example.com'],
    ['http://example.com:8080/switchyard//', 'http://example.com:8080/switchyard'],
  ])('of %s has no slash at its end', (given, kept) => expect(read(given)).toBe(kept))

  it.each(['ftp://example.com', 'example.com', 'https://a:b@example.com', 'https://x/?a', 'https://x/#a'])(
    '%s is refused',
    (given) => expect(() => read(given)).toThrow('EXTERNAL_URL: must'),
  )
})

describe('Secret', () => {
  it('cannot be printed, only revealed', () => {
    const secret = new Secret('hunter2')
    expect([String(secret), JSON.stringify({ secret }), inspect({ secret })].join()).not.toContain('hunter2')
    expect(secret.reveal()).toBe('hunter2')
  })
})
