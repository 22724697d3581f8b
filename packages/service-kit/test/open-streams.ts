import { once } from 'node:events'
import { connect, createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'

/** A server of node:http2, prepared, whose streams wait in `open`, and a client of it. */
export async function startStreams(prepare: (server: Http2Server) => void) {
  const open: ServerHttp2Stream[] = []
  const server = createServer().listen(0, '127.0.0.1')
  prepare(server)
  server.on('stream', (stream: ServerHttp2Stream) => {
    open.push(stream)
  })
  await once(server, 'listening')
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const ask = () => client.request({ ':path': '/' }).on('error', () => {})
  const close = () => {
    client.destroy()
    server.close()
  }
  return { open, ask, close }
}
