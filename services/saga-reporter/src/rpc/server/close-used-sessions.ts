import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerHttp2Stream } from 'node:http2'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'

/** Node publishes each stream that begins on a server of this process. The library does not show its sessions. */
const channel = 'http2.server.stream.created'

/**
 * Closes each HTTP/2 session of a port when its next call begins, so that GOAWAY does not meet another call in transit, which a
 * proxy may not repeat: a proxy has one call at a time on a connection. Ends when no call has begun for a twentieth of
 * `timeoutMs`, and after `timeoutMs` at the latest.
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
      // Calls that have arrived are noticed before the time is checked.
      await turn()
    }
  } finally {
    unsubscribe(channel, onStream)
  }
}
