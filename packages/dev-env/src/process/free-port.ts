import { randomInt } from 'node:crypto'
import getPort from 'get-port'

/** Below the ephemeral ports of every system, also with 10,000 added, where a Redis cluster has its bus. */
const first = 10_240
const last = 22_767
const candidatesMax = 200

/**
 * A port of 127.0.0.1 on which nothing listens, for a server that is started a moment later and again after a crash.
 * The port is chosen at random below the ephemeral ports, which the system may hand to another process or an outgoing
 * connection in the meantime, and never twice within this process.
 */
export async function findFreePort(): Promise<number> {
  const candidates = Array.from({ length: candidatesMax }, () => randomInt(first, last + 1))
  return await getPort({ host: '127.0.0.1', port: candidates })
}
