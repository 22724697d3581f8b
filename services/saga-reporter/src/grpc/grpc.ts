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
import { DomainError, unavailable } from '@switchyard/domain'
import type { Logger } from '@switchyard/service-kit/observability'
import { isUnavailable } from '../limited-database.js'
import { pastDeadline, toServiceError } from './errors.js'

/** A call whose headers have arrived. */
export interface ArrivedCall {
  metadata: Metadata
  /** Keys whose values the library could not read and has dropped. */
  droppedKeys: readonly string[]
  /** Address of the caller, which may be behind a proxy. */
  address: string
  getAuthContext: ServerInterceptingCall['getAuthContext']
  /** Returns a signal that is aborted at the end of the call. */
  signal: () => AbortSignal
}

export interface GrpcService {
  /** Full name, as health and reflection list it, e.g. `svc.Sagas.Server.Grpc.Saga`. */
  name: string
  definition: ServiceDefinition
  /** Methods that {@link unary} and {@link serverStream} make. */
  implementation: UntypedServiceImplementation
  /**
   * Admits each call when its headers arrive, before its message is read. The method receives the result.
   *
   * @throws DomainError when the call is refused
   */
  admit: (call: ArrivedCall) => unknown
}

/** The message of an admitted call, with the result of `admit`. */
export interface AdmittedMessage<Message = unknown, Admitted = unknown> {
  message: Message
  admitted: Admitted
}

type UnaryCall = Omit<ServerUnaryCall<unknown, unknown>, 'request'>
type StreamCall<Response> = Omit<ServerWritableStream<unknown, Response>, 'request'>

/**
 * Returns the message with the result of `admit`, which the interceptor has added. The library types the
 * request as the message alone.
 */
const admittedOf = <Message, Admitted>({ request }: { request: Message }) =>
  request as unknown as AdmittedMessage<Message, Admitted>

/**
 * Makes a gRPC method of an async function. Its errors become the statuses of the error table; an unexpected
 * failure is logged here, exactly once, with its cause. Work that was abandoned because the caller no longer
 * waits is not a failure.
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
 * @param signal aborts when the call has ended; the generator should then end soon, and its further messages
 *   are not sent
 */
export type StreamMessages<Request, Response, Admitted = unknown> = (
  request: Request,
  call: StreamCall<Response>,
  signal: AbortSignal,
  admitted: Admitted,
) => AsyncIterable<Response>

/**
 * Makes a server-streaming gRPC method of an async generator. The next message is requested only when the
 * connection accepts more, so a slow reader costs no memory here. Its errors become the statuses of the error
 * table; an unexpected failure is logged here, exactly once, with its cause.
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
    // A closed connection never drains; the signal ends the wait.
    if (!call.write(message)) await once(call, 'drain', { signal })
  }
}

/** Stands for a request that exceeds the limit of its service, so that the interceptor refuses it. */
export class OversizedRequest {
  readonly bytesMax: number

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax
  }
}

/** Returns the service with a smaller limit of requests. The server's limit is made for reported events. */
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

/** The part of a call that shows whether its caller still waits. */
interface AwaitedCall {
  cancelled: boolean
  getDeadline(): Date | number
}

/** The timer with which @grpc/grpc-js ends a call may fire this much before its deadline. */
const timerEarlyMs = 1

/** Returns whether the deadline of the caller has passed, so that it no longer waits. */
export const isPastDeadline = (call: Pick<AwaitedCall, 'getDeadline'>, nowMs: number): boolean =>
  nowMs >= Number(call.getDeadline()) - timerEarlyMs

/**
 * Returns whether the caller no longer waits for the answer: the call was cancelled, or its deadline has
 * passed.
 */
export const isAbandoned = (call: AwaitedCall, nowMs: number): boolean =>
  call.cancelled || isPastDeadline(call, nowMs)

/**
 * Returns the status of a failed call. After its deadline, the status is DEADLINE_EXCEEDED whatever failed,
 * because abandoned work must not be answered with a status that asks for a retry.
 */
export const failureOf = (error: unknown, call: Pick<AwaitedCall, 'getDeadline'>): ServiceError =>
  isPastDeadline(call, Date.now()) ? pastDeadline() : toServiceError(error)

/** Turns a database failure into the refusal that callers see. */
const known = (error: unknown): unknown =>
  isUnavailable(error) ? unavailable('the database does not answer', { cause: error }) : error

/**
 * Returns whether an error is a refusal by a rule, which is not logged as an error, and not a failed
 * dependency.
 */
export const isExpected = (error: unknown): boolean =>
  error instanceof DomainError && error.kind !== 'unavailable'

/**
 * Returns whether an abandoned call explains the error. An error with a cause is a failed dependency, which
 * is logged even when the caller no longer waits.
 */
const isGivenUp = (error: unknown, call: AwaitedCall): error is DomainError =>
  error instanceof DomainError &&
  error.kind === 'unavailable' &&
  error.cause === undefined &&
  isAbandoned(call, Date.now())
