import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { ServerDuplexStream, ServerReadableStream, sendUnaryData } from '@grpc/grpc-js'
import { type GrpcServerOptions, serverStream, type UnaryCall, unary } from '../src/grpc/index.js'
import { Connection, type StreamReader } from '../src/http2/index.js'
import { createLogger } from '../src/observability/index.js'
import { definition, startServer } from './grpc-harness.js'
import { connectPeer } from './http2-peer.js'
import { connectRaw } from './raw-calls.js'

type AcceptStream = ConstructorParameters<typeof Connection>[1]

const logger = createLogger('test', 'silent')

/** What a test has opened, to be closed after it, the last first. */
export const closers = () => {
  const closing: (() => unknown)[] = []
  return {
    add: (...close: (() => unknown)[]) => {
      closing.push(...close)
    },
    run: async () => {
      for (const close of closing.splice(0).reverse()) await close()
    },
  }
}

/** Answers with the request. */
export const echo = unary<Buffer, Buffer>(async (request) => request, logger)

/** Answers each request once all are let go, and keeps the calls. */
export function waiting() {
  const calls: UnaryCall<Buffer>[] = []
  let letGo: () => void = () => {}
  const free = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const call = unary<Buffer, Buffer>(async (request, current) => {
    calls.push(current)
    await free
    return request
  }, logger)
  return { calls, letGo, call }
}

/** Answers with as many bytes as the request says, each message of a size of its own in a stream. */
export const sized = unary<Buffer, Buffer>(async (request) => Buffer.alloc(Number(request), 'x'), logger)

/** A stream of the messages that the generator gives. */
export const streamed = (messages: (signal: AbortSignal) => AsyncIterable<Buffer>) =>
  serverStream<Buffer, Buffer>((_request, _call, signal) => messages(signal), logger)

export const nothing = streamed(async function* () {})

/** Beside the two methods of the harness, one that reads a stream and one that answers each message of one. */
export const streamingDefinition = {
  ...definition,
  upload: { ...definition.call, path: '/test.Test/Upload', requestStream: true },
  chat: { ...definition.watch, path: '/test.Test/Chat', requestStream: true },
}

const upload = (call: ServerReadableStream<Buffer, Buffer>, answer: sendUnaryData<Buffer>) => {
  let bytes = 0
  call.on('data', (part: Buffer) => {
    bytes += part.length
  })
  call.on('end', () => answer(null, Buffer.from(String(bytes))))
}

const chat = (call: ServerDuplexStream<Buffer, Buffer>) => {
  call.on('data', (message: Buffer) => call.write(message))
  call.on('end', () => call.end())
}

type Implementation = Parameters<typeof startServer>[0]

/** Serves the methods, and gives connections to it that close with it. */
export async function startService(
  implementation: Implementation = {},
  options: Partial<GrpcServerOptions> = {},
) {
  const service = {
    name: 'test.Test',
    definition: streamingDefinition,
    implementation: { call: echo, watch: nothing, upload, chat, ...implementation },
  }
  const server = await startServer(
    {},
    { services: [service], drainTimeoutMs: 100, probePeriodMs: 0, ...options },
  )
  return { ...server, ...opener(server.port) }
}

/** Serves connections by themselves, without gRPC; gives both ends of each. */
export async function serveConnections(accept: AcceptStream) {
  const connections: Connection[] = []
  const server = createServer((socket: Socket) => connections.push(new Connection(socket, accept)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { peer, closeAll } = opener(port)
  return {
    peer: async (first?: Buffer) => {
      const opened = await peer(first)
      const connection = await opened.until(() =>
        connections.find(({ socket }) => socket.remotePort === opened.socket.localPort),
      )
      return { peer: opened, connection }
    },
    close: () => {
      closeAll()
      server.close()
    },
  }
}

/** Keeps what comes, and says of none that it is used. */
export function keepingReader(): StreamReader & { bytes: number; code: number | null } {
  return {
    bytes: 0,
    code: null,
    onData(part: Buffer) {
      this.bytes += part.length
    },
    onEnd: () => {},
    onLeave(code: number) {
      this.code = code
    },
  }
}

function opener(port: number) {
  const closing: (() => void)[] = []
  return {
    /** A client that may break the rules. */
    peer: async (first?: Buffer) => {
      const peer = await connectPeer(port, first)
      closing.push(() => peer.close())
      return peer
    },
    /** A client that keeps them. */
    raw: async () => {
      const raw = await connectRaw(port)
      closing.push(raw.close)
      return raw
    },
    closeAll: () => {
      for (const close of closing.splice(0)) close()
    },
  }
}

/** Starts services that close with the test. */
export const startingIn =
  (closing: ReturnType<typeof closers>) =>
  async (...given: Parameters<typeof startService>) => {
    const service = await startService(...given)
    closing.add(service.close, service.closeAll)
    return service
  }
