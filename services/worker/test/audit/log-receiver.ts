import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'

/** Starts a syslog server with octet counting (RFC 6587), or RFC 5425 with `tls`. */
export async function startSyslog(tls?: TlsOptions) {
  const messages: string[] = []
  const connections: number[] = []
  const take = (socket: Socket) => {
    const chunks: Buffer[] = []
    socket.on('error', () => {})
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('end', () => {
      const read = unframed(Buffer.concat(chunks))
      connections.push(read.length)
      messages.push(...read)
    })
  }
  const server = tls ? createTlsServer(tls, take) : createTcpServer(take)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return { messages, connections, port, close: () => server.close() }
}

function unframed(bytes: Buffer): string[] {
  const messages: string[] = []
  let at = 0
  while (at < bytes.length) {
    const space = bytes.indexOf(' ', at)
    const length = Number(bytes.toString('latin1', at, space))
    messages.push(bytes.toString('utf8', space + 1, space + 1 + length))
    at = space + 1 + length
  }
  return messages
}

/** Parses a message of RFC 5424 without structured data. */
export function readSyslog(message: string) {
  const form = /^<(\d+)>1 (\S+) (\S+) (\S+) (\S+) (\S+) - (.*)$/
  const [, priority, time, host, app, , id, text = ''] = form.exec(message) ?? []
  return { priority, time, host, app, id, entry: JSON.parse(text) as Record<string, unknown> }
}

interface Received {
  url: string
  headers: IncomingHttpHeaders
  body: Buffer
}

/** Starts an HTTP server that records its requests. `answer` may leave a request without an answer. */
export async function startCollector(answer: (response: ServerResponse, number: number) => void) {
  const requests: Received[] = []
  const server = createHttpServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    requests.push({ url: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) })
    answer(response, requests.length)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    requests,
    url: `http://127.0.0.1:${port}/v1/logs`,
    /** Returns the ids of the entries of every request, which has one JSON text per line. */
    ids: () =>
      requests.map(({ body }) =>
        body
          .toString()
          .trimEnd()
          .split('\n')
          .map((line) => (JSON.parse(line) as { id: number }).id),
      ),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
