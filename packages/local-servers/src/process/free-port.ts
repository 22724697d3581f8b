import { randomInt } from 'node:crypto'
import getPort from 'get-port'

/**
 * First port. The range plus 10,000 (for the bus of a Redis cluster) is below the ephemeral ports of every
 * system.
 */
const first = 10_240
const last = 22_767
const candidatesMax = 200

/**
 * Returns a free port of 127.0.0.1 for a server that starts a moment later and again after a crash. The port
 * is random, below the ephemeral ports (which the system may assign to another process in the meantime), and
 * never repeated within this process.
 */
export async function getFreePort(): Promise<number> {
  const candidates = Array.from({ length: candidatesMax }, () => randomInt(first, last + 1))
  return await getPort({ host: '127.0.0.1', port: candidates })
}
