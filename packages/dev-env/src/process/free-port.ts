import { randomInt } from 'node:crypto'
import getPort from 'get-port'

/** Below what any system gives out by itself; 10,000 above (a Redis cluster's bus) is below it too. */
const first = 10_240
const last = 22_767
const candidatesMax = 200

/**
 * A port of 127.0.0.1 on which nothing listens, for a server that is started a moment later and again after a crash.
 * The system gives the ports that it chooses itself to others meanwhile: to who listens on port 0 and to outgoing
 * connections. So this one is chosen at random where it gives out none, and not twice within this process.
 */
export async function findFreePort(): Promise<number> {
  const candidates = Array.from({ length: candidatesMax }, () => randomInt(first, last + 1))
  return await getPort({ host: '127.0.0.1', port: candidates })
}
