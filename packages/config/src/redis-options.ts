/** How to reach Redis, in the words of ioredis. */
export interface RedisConnectionOptions {
  path?: string
  host?: string
  port?: number
  /** Where Sentinels are that know the primary's address. */
  sentinels?: { host: string; port: number }[]
  /** The Sentinels' name of the primary. */
  name?: string
  sentinelPassword?: string
  sentinelRetryStrategy?: (attempt: number) => number
  /** Sentinels that speak TLS. */
  sentinelTLS?: Record<string, never>
  /** Uses `tls` for the primary that the Sentinels name, too. */
  enableTLSForSentinelMode?: boolean
  username?: string
  password?: string
  db: number
  tls?: Record<string, never>
}

/**
 * Connection options for a URL: `redis://`, `rediss://` (TLS), `unix:///path/to/redis.sock`, which may name a
 * database and a user (`unix:///path?db=3&user=name&password=secret`), or
 * `redis+sentinel://user:password@host:port,host:port/name/db?sentinel_password=…`, or the same with
 * `rediss+sentinel://`: TLS to the Sentinels and to Redis.
 *
 * @throws TypeError for a text that is none of these
 */
export function redisOptions(url: string): RedisConnectionOptions {
  if (/^rediss?\+sentinel:/i.test(url)) return sentinelOptions(url)
  const parsed = new URL(url)
  if (parsed.protocol === 'unix:') {
    const { searchParams } = parsed
    return {
      path: decodeURIComponent(parsed.pathname),
      db: Number(searchParams.get('db') ?? 0),
      username: searchParams.get('user') ?? undefined,
      password: searchParams.get('password') ?? undefined,
    }
  }
  return {
    host: parsed.hostname.replace(/^\[|\]$/g, '') || '127.0.0.1',
    port: Number(parsed.port || 6379),
    ...credentialsOf(parsed),
    db: Number(parsed.pathname.slice(1) || 0),
    ...(parsed.protocol === 'rediss:' ? { tls: {} } : {}),
  }
}

const credentialsOf = ({ username, password }: URL) => ({
  username: decodeURIComponent(username) || undefined,
  password: decodeURIComponent(password) || undefined,
})

function sentinelOptions(url: string): RedisConnectionOptions {
  // A URL has one host, so that the list of the Sentinels is read apart from the rest.
  const [, before, hosts = '', after] =
    /^(rediss?\+sentinel:\/\/(?:[^@/]*@)?)([^@/]+)(\/.+)$/i.exec(url) ?? []
  const parsed = new URL(`${before}sentinels${after}`)
  const [name = '', db = '0', ...rest] = parsed.pathname.slice(1).split('/')
  if (name === '' || !/^\d+$/.test(db) || rest.length > 0) throw new TypeError('Invalid URL')
  return {
    sentinels: hosts.split(',').map((host) => {
      const { hostname, port } = new URL(`redis://${host}`)
      if (hostname === '') throw new TypeError('Invalid URL')
      return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 26_379) }
    }),
    name: decodeURIComponent(name),
    sentinelPassword: parsed.searchParams.get('sentinel_password') ?? undefined,
    // Without the failover detector of ioredis: a client that asks a Sentinel when the detector speaks never
    // connects again.
    sentinelRetryStrategy: (attempt) => Math.min(attempt * 100, 2000),
    ...credentialsOf(parsed),
    db: Number(db),
    ...(parsed.protocol === 'rediss+sentinel:'
      ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }
      : {}),
  }
}
