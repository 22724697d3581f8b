/** The connection to Redis, as options of ioredis. */
export interface RedisConnectionOptions {
  path?: string
  host?: string
  port?: number
  /** Addresses of Sentinels that know the address of the primary. */
  sentinels?: { host: string; port: number }[]
  /** Name of the primary for the Sentinels. */
  name?: string
  sentinelPassword?: string
  sentinelRetryStrategy?: (attempt: number) => number
  /** Set when the Sentinels use TLS. */
  sentinelTLS?: Record<string, never>
  /** Whether `tls` is also used for the primary that the Sentinels name. */
  enableTLSForSentinelMode?: boolean
  username?: string
  password?: string
  db: number
  tls?: Record<string, never>
}

/**
 * Returns connection options for a URL:
 * - `redis://`, or `rediss://` for TLS
 * - `unix:///path/to/redis.sock`, which may name a database and a user
 *   (`unix:///path?db=3&user=name&password=secret`)
 * - `redis+sentinel://user:password@host:port,host:port/name/db?sentinel_password=…`, or `rediss+sentinel://`
 *   with TLS to the Sentinels and to Redis
 *
 * @throws TypeError for any other text
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
  // A URL has one host, so the list of the Sentinels is read apart from the rest.
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
    // Without the failover detector of ioredis, because a client that asks a Sentinel while the detector
    // reports never reconnects.
    sentinelRetryStrategy: (attempt) => Math.min(attempt * 100, 2000),
    ...credentialsOf(parsed),
    db: Number(db),
    ...(parsed.protocol === 'rediss+sentinel:'
      ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }
      : {}),
  }
}
