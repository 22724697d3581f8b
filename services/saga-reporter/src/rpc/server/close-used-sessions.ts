import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerHttp2Stream } from 'node:http2'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'

/** Where Node tells of each stream that begins on a server of this process. The library does not show its sessions. */
const channel = 'http2.server.stream.created'

/**
 * Closes each session of a port with its next call, until no call has come for a twentieth of the given time. The end of a session refuses calls that
 * are on their way, and a gateway may not repeat them. But a gateway has one call under way on a connection, and reads with its
 * answer that it is the last.
 */
export async function closeUsedSessions(port: number, timeoutMs: number): Promise<void> {
  const quietMs = timeoutMs / 20
  const deadlineMs = performance.now() + timeoutMs
  let lastCallMs = performance.now()
  const onStream = (message: unknown) => {
    const { session } = (message as { stream: ServerHttp2Stream }).stream
    if (session?.socket.localPort !== port) return
    lastCallMs = performance.now()
    session.close()
  }
  subscribe(channel, onStream)
  try {
    while (performance.now() < Math.min(lastCallMs + quietMs, deadlineMs)) {
      await sleep(quietMs / 4)
      // All that has arrived is read before the last look.
      await turn()
    }
  } finally {
    unsubscribe(channel, onStream)
  }
}
