import type { Cluster } from 'ioredis'
import type { ReadCommand } from './read-command.js'
import type { RedisReader } from './redis-reader.js'
import { scanHashesOf } from './scan-hashes.js'

/**
 * Reads a Redis Cluster. The client gathers commands into one pipeline a node, and follows slots that move.
 *
 * @param cluster with automatic pipelining
 */
export function createClusterReader(cluster: Cluster): RedisReader {
  const masters = () => cluster.nodes('master')
  return {
    read: (commands) => Promise.all(commands.map((command) => send(cluster, command))),
    async clientList() {
      const lists = await Promise.all(masters().map((node) => node.client('LIST')))
      return lists.flatMap((list) => String(list).split('\n'))
    },
    async scanHashes(pattern) {
      const found: string[] = []
      for (const node of masters())
        found.push(...(await scanHashesOf((...command) => node.call('SCAN', ...command), pattern)))
      return found
    },
    close: () => cluster.disconnect(),
  }
}

type Send = (...args: (string | number)[]) => Promise<unknown>

/** By its own method: only these are gathered into pipelines. Keys of one question may be on several nodes. */
async function send(cluster: Cluster, { name, args }: ReadCommand): Promise<unknown> {
  if (name === 'exists') {
    const found = await Promise.all(args.map((key) => cluster.exists(String(key))))
    return found.reduce((sum, count) => sum + count, 0)
  }
  const method = cluster[name] as unknown as Send
  return method.apply(cluster, [...args])
}
