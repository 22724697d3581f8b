import { setTimeout as delay } from 'node:timers/promises'

const countPerCall = 1000
/** Lets the server do its work between two calls. */
const pauseMs = 20

/**
 * Names of hashes that match a pattern; takes as long as the server has keys.
 *
 * @param scan sends a SCAN with these arguments
 */
export async function scanHashesOf(
  scan: (...command: (string | number)[]) => Promise<unknown>,
  pattern: string,
): Promise<string[]> {
  const found = new Set<string>()
  let cursor = '0'
  do {
    const answer = await scan(cursor, 'MATCH', pattern, 'COUNT', countPerCall, 'TYPE', 'hash')
    const [next, keys] = answer as [string, string[]]
    for (const key of keys) found.add(key)
    cursor = next
    if (cursor !== '0') await delay(pauseMs)
  } while (cursor !== '0')
  return [...found]
}
