import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP link to a server that fails in the ways networks do, and can be mended. */
export async function startLink(targetUrl: string) {
  const target = new URL(targetUrl)
  const open = new Set<Socket>()
  let cut = false
  let swallowing = false
  const server = createServer((near) => {
    if (cut) return near.destroy()
    if (swallowing) {
      open.add(near.on('error', () => {}))
      return
    }
    const far = connect(Number(target.port || 5432), target.hostname)
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
      socket.pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(targetUrl)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const drop = () => {
    for (const socket of open) socket.destroy()
  }
  return {
    url: url.href,
    cut() {
      cut = true
      drop()
    },
    /** Nothing arrives any more, and neither side is told: connections stay open and silent, also once it is mended. */
    swallow() {
      swallowing = true
      for (const socket of open) socket.unpipe().resume()
    },
    /** New connections work again. */
    mend() {
      cut = false
      swallowing = false
    },
    close() {
      drop()
      server.close()
    },
  }
}
