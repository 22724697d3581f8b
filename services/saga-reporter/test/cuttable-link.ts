import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP link to a server that can be cut and mended, as networks are. */
export async function startLink(targetUrl: string) {
  const target = new URL(targetUrl)
  const open = new Set<Socket>()
  let cut = false
  const server = createServer((near) => {
    if (cut) return near.destroy()
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
    mend() {
      cut = false
    },
    close() {
      drop()
      server.close()
    },
  }
}
