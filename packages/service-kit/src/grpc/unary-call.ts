import type { Metadata, ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js'

/** What a unary method may know of a call, whichever way it came. */
export interface UnaryCall<Request>
  extends Pick<
    ServerUnaryCall<Request, unknown>,
    'request' | 'cancelled' | 'getAuthContext' | 'getDeadline' | 'getPath' | 'getPeer'
  > {
  readonly metadata: Metadata
}

/** A unary gRPC method. `answer` is called once, with a failure or with a response. */
export type UnaryMethod<Request, Response> = (
  call: UnaryCall<Request>,
  answer: sendUnaryData<Response>,
) => void
