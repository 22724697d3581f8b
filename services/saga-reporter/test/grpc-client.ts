import { type ChannelCredentials, type ChannelOptions, Client, credentials, Metadata } from '@grpc/grpc-js'
import { CommonResponse, SagaService } from '@switchyard/contracts/saga'
import type { SagaEvent } from '@switchyard/domain/saga'

export type Operation = SagaEvent['operation']

/** Fields of any request; each operation uses its own. */
export interface Fields {
  sagaId?: string
  serviceName?: string
  activityId?: string
  timeOutSeconds?: number
  parameterData?: Buffer
  order?: number
  addTime?: string
  status?: string
  retries?: number
  activityRetryType?: number
  errors?: string
  resultData?: Buffer
}

const blank = {
  sagaId: '',
  serviceName: '',
  activityId: '',
  timeOutSeconds: 0,
  parameterData: Buffer.alloc(0),
  order: 0,
  addTime: '',
  status: '',
  retries: 0,
  activityRetryType: 0,
  errors: '',
  resultData: Buffer.alloc(0),
}

/** Returns a request with all the fields of every operation. */
export const requestOf = (fields: Fields) => ({ ...blank, ...fields })

/** Encodes a request as the generated client does. */
export function encode(operation: Operation, fields: Fields): Buffer {
  const method = `${operation.charAt(0).toLowerCase()}${operation.slice(1)}` as keyof typeof SagaService
  return SagaService[method].requestSerialize(requestOf(fields))
}

const decode = (bytes: Buffer): CommonResponse => {
  const { isSuccess, message, errors } = CommonResponse.decode(bytes)
  return { isSuccess, message, errors }
}

export interface CallOptions {
  metadata?: Record<string, string | string[]>
  service?: string
  deadlineMs?: number
}

/**
 * Connects to a reporter. Calls reject with the gRPC status as `code`.
 *
 * @param target its port on this machine, or `host:port`
 */
export function connect(
  target: number | string,
  channel: ChannelCredentials = credentials.createInsecure(),
  channelOptions: ChannelOptions = {},
) {
  const address = typeof target === 'number' ? `127.0.0.1:${target}` : target
  const client = new Client(address, channel, {
    'grpc.max_send_message_length': -1,
    // Reconnects at once after a fault, so that tests do not wait for the client.
    'grpc.initial_reconnect_backoff_ms': 50,
    'grpc.max_reconnect_backoff_ms': 100,
    ...channelOptions,
  })

  const unary = (path: string, bytes: Buffer, { metadata = {}, deadlineMs = 20_000 }: CallOptions = {}) =>
    new Promise<Buffer>((resolve, reject) => {
      const sent = new Metadata()
      for (const [key, values] of Object.entries(metadata))
        for (const value of [values].flat()) sent.add(key, value)
      client.makeUnaryRequest(
        path,
        (request: Buffer) => request,
        (response: Buffer) => response,
        bytes,
        sent,
        { deadline: Date.now() + deadlineMs },
        (error, response) => (error || !response ? reject(error) : resolve(response)),
      )
    })

  const send = async (operation: Operation, bytes: Buffer, options: CallOptions = {}) =>
    decode(await unary(`/${options.service ?? 'svc.Sagas.Server.Grpc.Saga'}/${operation}`, bytes, options))

  return {
    client,
    unary,
    send,
    report: (operation: Operation, fields: Fields, options?: CallOptions) =>
      send(operation, encode(operation, fields), options),
    close: () => client.close(),
  }
}

export type Grpc = ReturnType<typeof connect>

/** Reports events one after the other, and returns the messages of the answers. */
export async function reportAll(grpc: Grpc, events: [Operation, Fields][], options?: CallOptions) {
  const messages: string[] = []
  for (const [operation, fields] of events) {
    const { isSuccess, message } = await grpc.report(operation, fields, options)
    messages.push(isSuccess ? message : `refused: ${message}`)
  }
  return messages
}
