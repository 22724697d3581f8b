import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { redisOptions } from '@switchyard/config'
import { createRedis } from '@switchyard/service-kit/redis'
import { Cluster, type RedisOptions } from 'ioredis'
import type { Address, SourceConnection, TlsFiles } from '../../source-config.js'
import { createClusterReader, createServerReader, type RedisReader } from './redis-reader.js'

interface OpenRedisOptions {
  connection: SourceConnection
  /** Time limit of an answer, and of a connection attempt. */
  timeoutMs: number
  onError: (error: Error) => void
  onReady: () => void
}

/**
 * Connects to a source: a server, the master that Sentinel names, or a cluster. While it is unreachable, it
 * is reconnected repeatedly, and reads fail at once.
 *
 * @throws Error when a certificate cannot be read
 */
export function openRedis({ connection, timeoutMs, onError, onReady }: OpenRedisOptions): RedisReader {
  const url = connection.url.reveal()
  const given: RedisOptions = {
    ...credentialsOf(connection),
    ...tlsOf(connection.tls ? readTls(connection.tls) : redisOptions(url).tls),
    // One timer for the connection replaces one for each of thousands of commands.
    socketTimeout: timeoutMs,
    connectTimeout: timeoutMs,
    // Every version of Redis that Sidekiq 5 and BullMQ 5 support understands this version of the protocol.
    protocol: 2,
  }
  if (connection.cluster) {
    const cluster = openCluster(connection.cluster, { ...redisOptions(url), ...given }, onError)
    cluster.on('ready', onReady)
    return createClusterReader(cluster)
  }
  const sentinel = connection.sentinel ? sentinelOf(connection.sentinel) : {}
  const redis = createRedis({ url, onError, ...given, ...sentinel })
  redis.on('ready', onReady)
  return createServerReader(redis)
}

/** Returns user and password. Values beside the URL override those in it. */
function credentialsOf({ username, password }: SourceConnection): RedisOptions {
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password: password.reveal() }),
  }
}

/** Returns the TLS options for a server and for Sentinels. */
const tlsOf = (tls?: ConnectionOptions): RedisOptions =>
  tls ? { tls, sentinelTLS: tls, enableTLSForSentinelMode: true } : {}

function readTls({ ca, cert, key, servername }: TlsFiles): ConnectionOptions {
  const read = (path?: string) => (path === undefined ? undefined : readFileSync(path))
  return { ca: read(ca), cert: read(cert), key: read(key), servername }
}

function sentinelOf(sentinel: NonNullable<SourceConnection['sentinel']>): RedisOptions {
  return {
    sentinels: sentinel.nodes,
    name: sentinel.master,
    sentinelUsername: sentinel.username,
    sentinelPassword: sentinel.password?.reveal(),
    sentinelRetryStrategy: (attempt) => Math.min(attempt * 100, 2000),
  }
}

function openCluster(nodes: Address[], redis: RedisOptions, onError: (error: Error) => void): Cluster {
  const {
    host: _host,
    port: _port,
    path: _path,
    sentinels: _sentinels,
    name: _name,
    db: _db,
    ...perNode
  } = redis
  const cluster = new Cluster(nodes, {
    redisOptions: { ...perNode, maxRetriesPerRequest: 0 },
    enableAutoPipelining: true,
    enableOfflineQueue: false,
    // A failover takes seconds; until then this source does not answer.
    clusterRetryStrategy: (attempt) => Math.min(attempt * 100, 2000),
    // Certificates name hosts, so hosts must not be replaced by their addresses.
    dnsLookup: (address, callback) => callback(null, address),
  })
  cluster.on('error', onError)
  return cluster
}
