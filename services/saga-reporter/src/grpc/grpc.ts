import { once } from 'node:events'
import type {
  handleServerStreamingCall,
  handleUnaryCall,
  Metadata,
  ServerInterceptingCall,
  ServerUnaryCall,
  ServerWritableStream,
  ServiceDefinition,
  ServiceError,
  UntypedServiceImplementation,
} from '@grpc/grpc-js'
import { isDatabaseUnavailable } from '@switchyard/db'
import { DomainError, unavailable } from '@switchyard/domain'
import type { Logger } from '@switchyard/service-kit/observability'
import { pastDeadline, toServiceError } from './errors.js'

/** A call whose headers have arrived. */
export interface ArrivedCall {
  metadata: Metadata
  /** Keys whose values the library cannot read, and which are missing in the metadata. */
  droppedKeys: readonly string[]
  /** Of the caller, which may be behind a proxy. */
  address: string
  getAuthContext: ServerInterceptingCall['getAuthContext']
}

export interface GrpcService {
  /** Full name, as health and reflection show it, e.g. `svc.Sagas.Server.Grpc.Saga`. */
  name: string
  definition: ServiceDefinition
  /** Methods made by {@link unary} and {@link serverStream}. */
  implementation: UntypedServiceImplementation
  /**
   * Admits each call when its headers arrive, before its message is read. The method gets what it gives.
   *
   * @throws DomainError when the call is refused
   */
  admit: (call: ArrivedCall) => unknown
}

/** The message of an admitted call, with what `admit` gave. */
export interface AdmittedMessage<Message = unknown, Admitted = unknown> {
  message: Message
  admitted: Admitted
}

type UnaryCall = Omit<ServerUnaryCall<unknown, unknown>, 'request'>
type StreamCall<Response> = Omit<ServerWritableStream<unknown, Response>, 'request'>

/**
 * The library types the request as the message alone; the interceptor has put what `admit` gave beside it.
 */
const admittedOf = <Message, Admitted>({ request }: { request: Message }) =>
  request as unknown as AdmittedMessage<Message, Admitted>

/**
 * Makes a gRPC method of an async function. An error that it throws becomes the status of the error table; an
 * unexpected failure is logged here, exactly once, with its cause. Work that was abandoned because the caller
 * no longer waits is no failure.
 */
export function unary<Request, Response, Admitted = unknown>(
  handle: (request: Request, call: UnaryCall, admitted: Admitted) => Promise<Response>,
  logger: Logger,
): handleUnaryCall<Request, Response> {
  return (call, answer) => {
    const { message, admitted } = admittedOf<Request, Admitted>(call)
    handle(message, call, admitted).then(
      (response) => answer(null, response),
      (thrown: unknown) => {
        const error = known(thrown)
        const method = call.getPath()
        if (isGivenUp(error, call))
          logger.debug({ method, reason: error.message }, 'the caller no longer waits')
        else if (!isExpected(error)) logger.error({ err: error, method }, 'call failed')
        answer(failureOf(error, call))
      },
    )
  }
}

/**
 * The messages of a streaming method.
 *
 * @param signal aborts when the call has ended; the generator should then end soon, and no message that it
 *   still yields is sent.
 */
export type StreamMessages<Request, Response, Admitted = unknown> = (
  request: Request,
  call: StreamCall<Response>,
  signal: AbortSignal,
  admitted: Admitted,
) => AsyncIterable<Response>

/**
 * Makes a server-streaming gRPC method of an async generator. It is asked for the next message only when the
 * connection takes more, so a slow reader costs no memory here. An error that it throws becomes the status of
 * the error table; an unexpected failure is logged here, exactly once, with its cause.
 */
export function serverStream<Request, Response, Admitted = unknown>(
  messages: StreamMessages<Request, Response, Admitted>,
  logger: Logger,
): handleServerStreamingCall<Request, Response> {
  return (call) => {
    const cancellation = new AbortController()
    call.once('cancelled', () => cancellation.abort())
    const { signal } = cancellation
    const { message, admitted } = admittedOf<Request, Admitted>(call)
    send(call, messages(message, call, signal, admitted), signal)
      .then(() => call.end())
      .catch((thrown: unknown) => {
        if (signal.aborted) return
        const error = known(thrown)
        if (!isExpected(error)) logger.error({ err: error, method: call.getPath() }, 'stream failed')
        call.emit('error', failureOf(error, call))
      })
  }
}

async function send<Response>(
  call: StreamCall<Response>,
  messages: AsyncIterable<Response>,
  signal: AbortSignal,
): Promise<void> {
  for await (const message of messages) {
    if (signal.aborted) return
    // A connection that is gone never drains: waiting for it ends with the signal.
    if (!call.write(message)) await once(call, 'drain', { signal })
  }
}

/** Replaces a request that is larger than its service accepts, for the interceptor to refuse. */
export class OversizedRequest {
  readonly bytesMax: number

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax
  }
}

/** The same service, with a smaller limit of requests. The limit of the server is that of reported events. */
export function limitRequests(definition: ServiceDefinition, bytesMax: number): ServiceDefinition {
  return Object.fromEntries(
    Object.entries(definition).map(([name, method]) => [
      name,
      {
        ...method,
        requestDeserialize: (bytes: Buffer) =>
          bytes.length > bytesMax ? new OversizedRequest(bytesMax) : method.requestDeserialize(bytes),
      },
    ]),
  )
}

/** The part of a call that says whether somebody still waits for its answer. */
interface AwaitedCall {
  cancelled: boolean
  getDeadline(): Date | number
}

/** The timer with which @grpc/grpc-js ends a call may fire this much before the clock shows its deadline. */
const timerEarlyMs = 1

/** Whether the caller has stopped waiting because the deadline that it named has passed. */
export const isPastDeadline = (call: Pick<AwaitedCall, 'getDeadline'>, nowMs: number): boolean =>
  nowMs >= Number(call.getDeadline()) - timerEarlyMs

/** Whether the caller no longer waits for the answer: the call was cancelled, or its deadline has passed. */
export const isAbandoned = (call: AwaitedCall, nowMs: number): boolean =>
  call.cancelled || isPastDeadline(call, nowMs)

/**
 * The status of a call that failed. Once its deadline has passed that is DEADLINE_EXCEEDED, whatever failed:
 * work that was abandoned because its caller no longer waits must not be answered with a status that asks for
 * a retry.
 */
export const failureOf = (error: unknown, call: Pick<AwaitedCall, 'getDeadline'>): ServiceError =>
  isPastDeadline(call, Date.now()) ? pastDeadline() : toServiceError(error)

/** A failure of the database as the refusal that callers see. */
const known = (error: unknown): unknown =>
  isDatabaseUnavailable(error) ? unavailable('the database does not answer', { cause: error }) : error

/**
 * Whether an error is a refusal by a rule, which is not logged as an error, and not the failure of a
 * dependency.
 */
export const isExpected = (error: unknown): boolean =>
  error instanceof DomainError && error.kind !== 'unavailable'

/**
 * An error with a cause is the failure of a dependency. It is logged also when the caller no longer waits.
 */
const isGivenUp = (error: unknown, call: AwaitedCall): error is DomainError =>
  error instanceof DomainError &&
  error.kind === 'unavailable' &&
  error.cause === undefined &&
  isAbandoned(call, Date.now())
