import { once } from 'node:events'
import { connect, createServer, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { ServerInterceptor } from '@grpc/grpc-js'

/** A server of node:http2 whose streams pass the interceptor and wait in `open`, and a client of it. */
export async function startStreams(intercept: ServerInterceptor) {
  const open: ServerHttp2Stream[] = []
  const server = createServer().listen(0, '127.0.0.1')
  server.on('stream', (stream: ServerHttp2Stream) => {
    intercept({} as never, { stream } as never)
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
