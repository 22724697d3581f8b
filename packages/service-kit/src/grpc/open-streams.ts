import { ServerInterceptingCall, type ServerInterceptor, status } from '@grpc/grpc-js'

type NextCall = ConstructorParameters<typeof ServerInterceptingCall>[0]

/** The calls under way that send streams. They may never end by themselves, as a watch of health does not. */
export interface OpenStreams {
  interceptor: ServerInterceptor
  /** Ends every one with UNAVAILABLE, and each that still comes; clients resume elsewhere. */
  end: () => void
}

export function createOpenStreams(): OpenStreams {
  const open = new Set<NextCall>()
  let ending = false
  const interceptor: ServerInterceptor = ({ responseStream }, call) => {
    if (!responseStream) return call as ServerInterceptingCall
    open.add(call)
    if (ending) setImmediate(end, call)
    return new StreamCall(call, () => open.delete(call))
  }
  return {
    interceptor,
    end: () => {
      ending = true
      for (const call of open) end(call)
    },
  }
}

const end = (call: NextCall): void =>
  call.sendStatus({ code: status.UNAVAILABLE, details: 'the server stops' })

class StreamCall extends ServerInterceptingCall {
  readonly #onEnd: () => void

  constructor(call: NextCall, onEnd: () => void) {
    super(call, { start: (next) => next({ onCancel: onEnd }) })
    this.#onEnd = onEnd
  }

  override sendStatus(result: Parameters<ServerInterceptingCall['sendStatus']>[0]): void {
    this.#onEnd()
    super.sendStatus(result)
  }
}
