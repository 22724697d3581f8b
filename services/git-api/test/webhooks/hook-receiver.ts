import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceivedHook {
  headers: IncomingHttpHeaders
  body: string
  json: Record<string, unknown>
}

export async function startHookReceiver() {
  const received: ReceivedHook[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    received.push({ headers: request.headers, body, json: JSON.parse(body) })
    response.end('taken')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    received,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?of=ci`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
