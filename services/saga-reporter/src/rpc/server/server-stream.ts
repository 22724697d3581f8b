import { once } from 'node:events'
import type { handleServerStreamingCall, ServerWritableStream } from '@grpc/grpc-js'
import type { Logger } from '@switchyard/service-kit/observability'
import { failureOf } from './errors.js'
import { requireSize } from './limit-requests.js'
import { isExpected } from './unary.js'

/**
 * Yields the messages of one call. The signal aborts when the caller has gone, its deadline has passed or the server
 * stops: the generator must then end soon, and no message that it still yields is sent.
 */
export type StreamMessages<Request, Response> = (
  request: Request,
  call: ServerWritableStream<Request, Response>,
  signal: AbortSignal,
) => AsyncIterable<Response>

/**
 * Makes a server-streaming gRPC method of an async generator. It is asked for the next message only when the connection
 * takes more, so a slow reader costs no memory here. An error that it throws becomes the status of the error table; an
 * unexpected failure is logged here, exactly once, with its cause.
 */
export function serverStream<Request, Response>(
  messages: StreamMessages<Request, Response>,
  logger: Logger,
): handleServerStreamingCall<Request, Response> {
  return (call) => {
    const cancellation = new AbortController()
    call.once('cancelled', () => cancellation.abort())
    const { signal } = cancellation
    send(call, messages(call.request, call, signal), signal)
      .then(() => call.end())
      .catch((error: unknown) => {
        if (signal.aborted) return
        if (!isExpected(error)) logger.error({ err: error, method: call.getPath() }, 'stream failed')
        call.emit('error', failureOf(error, call))
      })
  }
}

async function send<Request, Response>(
  call: ServerWritableStream<Request, Response>,
  messages: AsyncIterable<Response>,
  signal: AbortSignal,
): Promise<void> {
  requireSize(call.request)
  for await (const message of messages) {
    if (signal.aborted) return
    // A connection that is gone never drains: waiting for it ends with the signal.
    if (!call.write(message)) await once(call, 'drain', { signal })
  }
}
