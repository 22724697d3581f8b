import { ServerInterceptingCall, type ServerInterceptor, status } from '@grpc/grpc-js'

type NextCall = ConstructorParameters<typeof ServerInterceptingCall>[0]

/** The calls under way whose answers are streams. Some do not end without `end`, such as a watch of health. */
export interface StreamingCalls {
  interceptor: ServerInterceptor
  /** Ends every stream with UNAVAILABLE, also streams that begin later; their clients connect to another replica. */
  end: () => void
}

export function createStreamingCalls(): StreamingCalls {
  const open = new Set<NextCall>()
  let ending = false
  const interceptor: ServerInterceptor = ({ responseStream }, call) => {
    if (!responseStream) return new ServerInterceptingCall(call)
    open.add(call)
    if (ending) setImmediate(end, call)
    // The method may still send messages after `end` has sent the status, for which the library would reset the stream.
    return new ServerInterceptingCall(call, {
      start: (next) => next({ onCancel: () => open.delete(call) }),
      sendMetadata: (metadata, next) => open.has(call) && next(metadata),
      sendMessage: (message, next) => open.has(call) && next(message),
      sendStatus: (result, next) => open.delete(call) && next(result),
    })
  }
  const end = (call: NextCall): void => {
    if (open.delete(call)) call.sendStatus({ code: status.UNAVAILABLE, details: 'the server stops' })
  }
  return {
    interceptor,
    end: () => {
      ending = true
      for (const call of open) end(call)
    },
  }
}
