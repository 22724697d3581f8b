import type { ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js'

/** What a unary method may know of a call, whichever way it came. */
export type UnaryCall<Request> = Pick<
  ServerUnaryCall<Request, unknown>,
  'request' | 'metadata' | 'cancelled' | 'getAuthContext' | 'getDeadline' | 'getPath' | 'getPeer'
>

/** A unary gRPC method. `answer` is called once, with a failure or with a response. */
export type UnaryMethod<Request, Response> = (
  call: UnaryCall<Request>,
  answer: sendUnaryData<Response>,
) => void
