import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Transform } from 'node:stream'

/**
 * Starts a TCP link to a server (`postgresql://…` or `unix:///…`) that can fail like a network and be
 * repaired.
 *
 * @param host address on which it listens
 */
export async function startLink(targetUrl: string, host = '127.0.0.1') {
  const target = new URL(targetUrl)
  const open = new Set<Socket>()
  let cut = false
  let swallowing = false
  let delayMs = 0
  const connectFar = () =>
    target.protocol === 'unix:'
      ? connect(target.pathname)
      : connect(Number(target.port || 5432), target.hostname)
  const server = createServer((near) => {
    if (cut) return near.destroy()
    if (swallowing) {
      open.add(near.on('error', () => {}))
      return
    }
    const far = connectFar()
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        open.delete(socket)
        other.destroy()
      })
      socket.pipe(late(() => delayMs)).pipe(other)
    }
  })
  server.listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  /** Returns the URL of a database of the server through this link. */
  const by = (targetUrl: string): string => {
    const url = new URL(targetUrl)
    if (url.protocol === 'unix:') return `redis://${host}:${port}`
    url.host = `${host}:${port}`
    return url.href
  }
  const drop = () => {
    for (const socket of open) socket.destroy()
  }
  return {
    url: by(targetUrl),
    by,
    cut() {
      cut = true
      drop()
    },
    /** Drops all data without telling either side: connections stay open and silent, even after a repair. */
    swallow() {
      swallowing = true
      for (const socket of open) socket.unpipe().resume()
    },
    /** Delays all data in both directions. */
    delay(ms: number) {
      delayMs = ms
    },
    /** Accepts new connections again. */
    mend() {
      cut = false
      swallowing = false
      delayMs = 0
    },
    close() {
      drop()
      server.close()
    },
  }
}

const late = (delayMs: () => number) =>
  new Transform({
    transform(chunk, _encoding, done) {
      if (delayMs() === 0) done(null, chunk)
      else setTimeout(done, delayMs(), null, chunk)
    },
  })
