import { type Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'

export interface RawAnswer {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

export interface RawOptions {
  method?: string
  headers?: OutgoingHttpHeaders
  body?: string
  /** Keeps the connection for the next request. Without it, each request has its own connection. */
  agent?: Agent
}

/** Sends a path byte for byte, because fetch would resolve dots and slashes first. */
export function rawRequest(
  port: number,
  path: string,
  { method = 'GET', headers, body = '', agent }: RawOptions = {},
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path, method, headers, agent }, async (response) => {
      let text = ''
      response.setEncoding('utf8')
      for await (const chunk of response) text += chunk
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text })
    })
    outgoing.once('error', reject)
    outgoing.end(body)
  })
}
