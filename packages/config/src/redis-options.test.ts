import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { loadConfig, redisOptions, redisUrl } from './index.js'

describe('redisOptions', () => {
  it('reads servers, TLS, sockets, databases, and passwords with any characters', () => {
    expect(redisOptions('redis://me:p%40ss@cache/3')).toMatchObject({
      host: 'cache',
      port: 6379,
      username: 'me',
      password: 'p@ss',
      db: 3,
    })
    expect(redisOptions('rediss://[::1]:7000')).toMatchObject({ host: '::1', port: 7000, db: 0, tls: {} })
    expect(redisOptions('unix:///run/a%20b.sock?db=2')).toEqual({ path: '/run/a b.sock', db: 2 })
  })

  it('reads the Sentinels, the name of the primary, and both passwords', () => {
    const url = 'redis+sentinel://:p%2Fw@s1:7000,s2,[::1]:7002/switchyard/4?sentinel_password=s%26p'
    expect(redisOptions(url)).toMatchObject({
      sentinels: [
        { host: 's1', port: 7000 },
        { host: 's2', port: 26_379 },
        { host: '::1', port: 7002 },
      ],
      name: 'switchyard',
      password: 'p/w',
      sentinelPassword: 's&p',
      db: 4,
    })
    expect(redisOptions('redis+sentinel://s1/main')).toMatchObject({ name: 'main', db: 0 })
    expect(redisOptions('redis+sentinel://s1/main')).not.toHaveProperty('tls')
    for (const scheme of ['rediss+sentinel', 'REDISS+Sentinel'])
      expect(redisOptions(`${scheme}://s1/main`)).toMatchObject({
        sentinels: [{ host: 's1', port: 26_379 }],
        name: 'main',
        db: 0,
        tls: {},
        sentinelTLS: {},
        enableTLSForSentinelMode: true,
      })
  })
})

describe('a URL of Redis that cannot work', () => {
  const schema = z.object({ REDIS_URL: redisUrl() })

  it.each([
    'http://cache',
    'redis+sentinel://s1:7000',
    'redis+sentinel://s1:7000/',
    'redis+sentinel://s1:7000,/main',
    'redis+sentinel://s1:port/main',
    'redis+sentinel://s1/main/first',
    'redis+sentinel://s1/main/1/2',
    'rediss+sentinel://s1',
    'redis://cache:port',
  ])('is reported at the start: %s', (url) => {
    expect(() => loadConfig('demo', schema, { REDIS_URL: url })).toThrow('redis+sentinel://host:port')
  })
})
