import type { Cluster } from 'ioredis'
import type { ReadCommand, RedisReader } from './redis-reader.js'
import { scanHashesOf } from './scan-hashes.js'

/**
 * Reads a Redis Cluster. The client gathers commands into one pipeline a node, and follows slots that move.
 * Scripts are not used: they would touch keys of other slots.
 *
 * @param cluster with automatic pipelining
 */
export function createClusterReader(cluster: Cluster): RedisReader {
  const masters = () => cluster.nodes('master')
  return {
    read: (commands) => Promise.all(commands.map((command) => send(cluster, command))),
    readByScript: async () => null,
    async clientList() {
      const lists = await Promise.all(masters().map((node) => node.client('LIST')))
      return lists.flatMap((list) => String(list).split('\n'))
    },
    async scanHashes(pattern) {
      const found: string[] = []
      for (const node of masters()) found.push(...(await scanHashesOf(node, pattern)))
      return found
    },
    close: () => cluster.disconnect(),
  }
}

type Send = (...args: (string | number)[]) => Promise<unknown>

/** By its own method: only these are gathered into pipelines. */
function send(cluster: Cluster, [name, ...args]: ReadCommand): Promise<unknown> {
  const method = cluster[name] as unknown as Send
  return method.apply(cluster, args)
}
