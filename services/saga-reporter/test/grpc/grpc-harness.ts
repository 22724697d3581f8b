import {
  type ChannelCredentials,
  Client,
  credentials,
  Metadata,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import { createServiceContext, type ServiceContext } from '@switchyard/service-kit/lifecycle'
import { type GrpcServerOptions, startGrpcServer } from '../../src/grpc/server.js'

const same = (bytes: Buffer) => bytes

const method = (name: string, responseStream: boolean) => ({
  path: `/test.Test/${name}`,
  requestStream: false,
  responseStream,
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
})

/** A service of bytes with one unary and one streaming method. */
export const definition = { call: method('Call', false), watch: method('Watch', true) }

/** Serves the two methods; its context shows the metrics. */
export async function startServer(
  implementation: UntypedServiceImplementation,
  options: Partial<GrpcServerOptions> = {},
) {
  const context = createServiceContext('test', 'silent')
  const server = await startGrpcServer({
    host: '127.0.0.1',
    port: 0,
    services: [{ name: 'test.Test', definition, implementation, admit: () => {} }],
    aliases: [],
    checkArrived: () => {},
    addressOf: (_metadata, peer) => peer,
    descriptorSet: new Uint8Array(),
    ...context,
    probePeriodMs: 20,
    healthIntervalMs: 20,
    drainTimeoutMs: 5000,
    ...options,
  })
  return { ...context, ...server }
}

/** Returns the number of ended calls of the unary method, by status code. */
export async function handledOf({
  metrics,
}: Pick<ServiceContext, 'metrics'>): Promise<Record<string, number>> {
  const counted = /^grpc_server_handled_total\{method="\/test\.Test\/Call",code="(\w+)".*\} (\d+)$/gm
  const text = await metrics.registry.metrics()
  return Object.fromEntries([...text.matchAll(counted)].map(([, code, count]) => [code, Number(count)]))
}

/** Opens a separate connection; calls reject with the gRPC error. */
export function connect(port: number, channel: ChannelCredentials = credentials.createInsecure()) {
  const client = new Client(`localhost:${port}`, channel, {
    'grpc.use_local_subchannel_pool': 1,
    'grpc.initial_reconnect_backoff_ms': 20,
    'grpc.max_reconnect_backoff_ms': 50,
  })
  return {
    client,
    call: (text = '', deadlineMs = 10_000) =>
      new Promise<string>((resolve, reject) => {
        const deadline = Date.now() + deadlineMs
        client.makeUnaryRequest(
          '/test.Test/Call',
          same,
          same,
          Buffer.from(text),
          new Metadata(),
          { deadline },
          (error, response) => (error ? reject(error) : resolve(String(response))),
        )
      }),
    watch: (path = '/test.Test/Watch', deadlineMs = 10_000) =>
      client.makeServerStreamRequest(path, same, same, Buffer.alloc(0), {
        deadline: Date.now() + deadlineMs,
      }),
    close: () => client.close(),
  }
}
