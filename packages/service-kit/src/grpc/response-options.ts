import type { ServerInterceptor } from '@grpc/grpc-js'
import { streamOf } from './session-of.js'

/**
 * Lets all answers be copies of one shape.
 *
 * The library answers every call with one and the same object of options, which says nothing of `endStream`. node:http2
 * copies it and adds that, for which V8 makes a shape of its own for each copy, and nothing that reads one is prepared
 * for it. Once the object says what would be added, all copies have its shape. It says as well that there is no `date`,
 * of which gRPC knows nothing and which costs each call a text, a header and one more shape that is not known.
 */
export function completeResponseOptions(): ServerInterceptor {
  let isComplete = false
  return (_method, call) => {
    const stream = isComplete ? undefined : streamOf(call)
    if (stream !== undefined) {
      const { respond } = stream
      stream.respond = (headers, options) => {
        stream.respond = respond
        if (options?.waitForTrailers) {
          Object.assign(options, { endStream: false, sendDate: false })
          isComplete = true
        }
        stream.respond(headers, options)
      }
    }
    return call as ReturnType<ServerInterceptor>
  }
}
