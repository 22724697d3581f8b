import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Transform } from 'node:stream'

/**
 * A TCP link to a server (`postgresql://…` or `unix:///…`) that fails in the ways networks do, and can be
 * mended.
 *
 * @param host where it listens
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
  /** The URL of a database of the server, by this link. */
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
    /**
     * Nothing arrives any more, and neither side is told: connections stay open and silent, also once it is
     * mended.
     */
    swallow() {
      swallowing = true
      for (const socket of open) socket.unpipe().resume()
    },
    /** What is sent arrives so much later, in both directions. */
    delay(ms: number) {
      delayMs = ms
    },
    /** New connections work again. */
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
