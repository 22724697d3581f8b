import { logVerbosity, setLogger, setLogVerbosity } from '@grpc/grpc-js'

/** The beginning of the line that the library logs when it drops metadata; the value follows, which may be a token. */
const droppedEntry = /^Failed to add metadata entry ([0-9a-z_.-]+):/

const dropped = new Set<string>()

/**
 * Follows the log of the library, and writes nothing of it. The library drops metadata beyond printable ASCII and says so in
 * its log alone: right before it creates the call, with nothing in between.
 */
export function followDroppedKeys(): void {
  setLogger({
    error: (line: unknown) => {
      const key = droppedEntry.exec(String(line))?.[1]
      if (key !== undefined) dropped.add(key)
    },
  })
  setLogVerbosity(logVerbosity.ERROR)
}

const none: readonly string[] = []

/** The keys that the library has dropped of a call, to be asked for when the call is created. */
export function takeDroppedKeys(): readonly string[] {
  if (dropped.size === 0) return none
  const keys = [...dropped]
  dropped.clear()
  return keys
}
