import { randomUUID } from 'node:crypto'
import { Agent, createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type TrustsProxy, trustsNobody } from '@switchyard/config'
import { createProxyServer } from 'http-proxy-3'
import proxyaddr from 'proxy-addr'
import { framingProblem, normalizeTarget } from './check-request.js'
import { closeWhenRead, connectionOfAnswer, hasUnreadBody, removeConnectionHeaders } from './hop-by-hop.js'
import { listen } from './listen.js'
import { findDestination, type Route } from './routing-table.js'

export interface GatewayOptions {
  host: string
  port: number
  routes: Route[]
  /** Returns whether a proxy is trusted about the addresses of its clients. Unset: none is. */
  trustsProxy?: TrustsProxy
  /** Returns the loopback port of a service, or undefined while it has none. */
  portOf: (service: string) => number | undefined
}

export interface RunningGateway {
  port: number
  /** Ends every connection, including those in use. */
  stop(): Promise<void>
}

const serverOptions = {
  maxHeaderSize: 64 * 1024,
  // A push of gigabytes may take hours, so only the headers have a time limit.
  requestTimeout: 0,
  headersTimeout: 15_000,
  connectionsCheckingInterval: 5_000,
  // framingProblem refuses requests without Host, with a body.
  requireHostHeader: false,
}

/**
 * Starts the HTTP gateway in front of the services, which routes by path as nginx does in production. Bodies
 * stream in both directions without limits of size or time, and the URL is forwarded unchanged.
 */
export async function startGateway(options: GatewayOptions): Promise<RunningGateway> {
  const markOrigin = (request: IncomingMessage) => markOriginOf(request, options.trustsProxy ?? trustsNobody)
  const agent = new Agent({ keepAlive: true })
  const proxy = createProxyServer({ agent, toProxy: true })
  // Answers that a service has begun. A refusal would be written in the middle of them.
  const begun = new WeakSet<object>()
  proxy.on('error', (_error, request, response) => {
    // The service may close its connection while the rest of a body is sent. The answer is complete then.
    if (response.writableEnded) return
    if (!(response instanceof ServerResponse) || response.headersSent || begun.has(response))
      response.destroy()
    else refuse(request as IncomingMessage, response, 502)
  })
  proxy.on('proxyReq', (forwarded, request, response) => {
    // Otherwise the service receives the request with the first byte of its body, and cannot refuse the
    // request before that.
    if (hasUnreadBody(request)) forwarded.flushHeaders()
    // A client may still send its body when the answer is complete. No service reads the rest, so it is
    // discarded.
    response.once('close', () => {
      if (request.complete) return
      forwarded.destroy()
      request.unpipe(forwarded).resume()
    })
  })
  // An answer that breaks off must not look complete to the client.
  proxy.on('proxyRes', (answer, request, response) => {
    removeConnectionHeaders(answer.headers)
    request.headers.connection = connectionOfAnswer(request)
    begun.add(response)
    answer.once('error', () => response.destroy())
    answer.once('aborted', () => response.destroy())
  })

  const server = createServer(serverOptions, (request, response) => {
    const problem = normalizeTarget(request) ?? framingProblem(request)
    closeWhenRead(request, response)
    removeConnectionHeaders(request.headers)
    markOrigin(request)
    if (problem) return refuse(request, response, problem)
    if (request.url === '/-/gateway/liveness') return sendJson(request, response, 200, { status: 'ok' })
    const destination = findDestination(options.routes, request.url ?? '/')
    if (!destination) return refuse(request, response, 404)
    const port = options.portOf(destination.service)
    if (port === undefined) return refuse(request, response, 502)
    request.url = destination.url
    proxy.web(request, response, { target: { host: '127.0.0.1', port } })
  })
  server.keepAliveTimeout = 75_000
  server.on('clientError', answerUnreadable)
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    closeWhenRead(request, response)
    markOrigin(request)
    refuse(request, response, 417)
  })
  await listen(server, options)
  return {
    port: (server.address() as { port: number }).port,
    async stop() {
      await close(server)
      agent.destroy()
    },
  }
}

/** Overwrites the client's headers about its origin, and adds a request id when there is none. */
function markOriginOf(request: IncomingMessage, trustsProxy: TrustsProxy): void {
  const { headers, socket } = request
  const client = socket.remoteAddress === undefined ? '' : proxyaddr(request, trustsProxy)
  delete headers.forwarded
  delete headers['x-client-certificate-subject']
  headers['x-forwarded-for'] = client
  headers['x-real-ip'] = client
  headers['x-forwarded-proto'] = 'http'
  headers['x-forwarded-host'] = headers.host ?? ''
  headers['x-forwarded-port'] = String(socket.localPort ?? '')
  const given = headers['x-request-id']
  if (typeof given !== 'string' || !/^[\w.:/+=@-]{1,128}$/.test(given)) headers['x-request-id'] = randomUUID()
}

const refusals = {
  400: { error: '400 Bad Request' },
  404: { error: '404 Not Found' },
  411: { message: '411 Length Required' },
  417: { message: '417 Expectation Failed' },
  502: { message: '502 Bad Gateway' },
}

function refuse(request: IncomingMessage, response: ServerResponse, status: keyof typeof refusals): void {
  const requestId = String(request.headers['x-request-id'])
  response.setHeader('X-Request-Id', requestId)
  sendJson(request, response, status, { ...refusals[status], request_id: requestId })
}

/** Headers that every service and nginx send, too. */
const securityHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
}

function sendJson(request: IncomingMessage, response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    ...securityHeaders,
    Connection: connectionOfAnswer(request),
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
  })
  response.end(text)
}

/**
 * Time for a client to read the answer to a request that the parser refuses, before its connection is cut.
 */
const lingerMs = 2_000

/**
 * Answers a request that the HTTP parser has refused. A connection that is closed while the client still
 * sends is reset, and the client may then miss the answer. So the bytes of the client are discarded for a
 * moment.
 */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  // The answer has already begun when the parser refuses the bytes that follow.
  if (socket.writableEnded && !socket.destroyed) return
  if (!socket.writable) return void socket.destroy()
  const body = JSON.stringify({ ...unreadable(error.code), request_id: randomUUID() })
  const [status] = Object.values(unreadable(error.code))
  const head = [`HTTP/1.1 ${status}`, 'Content-Type: application/json', 'Connection: close']
  socket.end(`${head.join('\r\n')}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}

function unreadable(code: string | undefined): { error: string } | { message: string } {
  if (code === 'HPE_HEADER_OVERFLOW') return { message: '431 Request Header Fields Too Large' }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { message: '408 Request Timeout' }
  return { error: '400 Bad Request' }
}

async function close(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await closed
}
