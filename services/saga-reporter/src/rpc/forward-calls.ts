import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  type Metadata,
  type MethodDefinition,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceError,
  status,
} from '@grpc/grpc-js'
import { type BoundTenants, ownTenant } from '@switchyard/domain/access'
import { forwardedHeader } from '@switchyard/service-kit/http'
import type { Cells, OtherCell } from '../cells/cells.js'
import { otherCellUnreachable } from '../cells/other-cell-unreachable.js'
import { cellOfLease } from '../wire/recovery-requests.js'
import type { AdmittedReport } from './report-method.js'
import type { Admission } from './server/admission.js'
import { failureOf } from './server/errors.js'
import { requireSize } from './server/limit-requests.js'
import type { GrpcService } from './server/server.js'

type Call = ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>
type Method = MethodDefinition<unknown, unknown>

/** The cell that has to answer a call; null: this one. @throws DomainError unavailable */
type CellOfCall = (call: Call, isForwarded: boolean) => OtherCell | null

export const isForwarded = (metadata: Metadata): boolean => metadata.get(forwardedHeader).length > 0

/** The cell of the tenant of a report. One that could not be checked is answered here. */
export const byReport =
  (cells: Cells, admission: Admission<AdmittedReport>): CellOfCall =>
  (call, forwarded) => {
    const admitted = admission.of(call)
    return 'unavailable' in admitted ? null : cells.ofTenant(admitted.metadata.tenant, forwarded)
  }

/** The tenants to which the sender of an admitted call is bound. */
type BoundTenantsOf = (call: Call) => BoundTenants

/** The cell of the tenant that the request names, else of the sender's own. */
export const byRequest =
  (cells: Cells, boundOf: BoundTenantsOf): CellOfCall =>
  (call, forwarded) => {
    const { tenant } = call.request as { tenant?: string }
    return cells.ofTenant(tenant || ownTenant(boundOf(call)), forwarded)
  }

/** A claim names its tenant; every other request names a lease, which names its cell. */
export const byLease =
  (cells: Cells, boundOf: BoundTenantsOf): CellOfCall =>
  (call, forwarded) => {
    const { leaseToken } = call.request as { leaseToken?: string }
    return leaseToken === undefined
      ? byRequest(cells, boundOf)(call, forwarded)
      : cells.named(cellOfLease(leaseToken), forwarded)
  }

/**
 * The same service, whose calls for another cell are answered by the reporters there: message, metadata, deadline, cancellation and
 * status pass unchanged. Both cells authenticate the call.
 */
export function forwardCalls(service: GrpcService, own: string, cellOf: CellOfCall): GrpcService {
  const implementation = Object.fromEntries(
    Object.entries(service.definition).map(([name, method]) => {
      const handle = service.implementation[name]
      return [
        name,
        method.responseStream
          ? stream(method, handle as handleServerStreamingCall<unknown, unknown>, own, cellOf)
          : unary(method, handle as handleUnaryCall<unknown, unknown>, own, cellOf),
      ]
    }),
  )
  return { ...service, implementation }
}

function unary(
  method: Method,
  handle: handleUnaryCall<unknown, unknown>,
  own: string,
  cellOf: CellOfCall,
): handleUnaryCall<unknown, unknown> {
  return (call, answer) => {
    let cell: OtherCell | null
    try {
      cell = targetOf(call, cellOf)
    } catch (error) {
      return answer(failureOf(error, call))
    }
    if (!cell) return handle(call, answer)
    const { name, grpc } = cell
    const forwarded = grpc.makeUnaryRequest(
      ...[method.path, bytesOf(method), method.responseDeserialize],
      call.request,
      metadataOf(call, own),
      { deadline: call.getDeadline() },
      (error, response) => (error ? answer(statusOf(error, name, call)) : answer(null, response)),
    )
    call.once('cancelled', () => forwarded.cancel())
  }
}

function stream(
  method: Method,
  handle: handleServerStreamingCall<unknown, unknown>,
  own: string,
  cellOf: CellOfCall,
): handleServerStreamingCall<unknown, unknown> {
  return (call) => {
    let cell: OtherCell | null
    try {
      cell = targetOf(call, cellOf)
    } catch (error) {
      return void call.emit('error', failureOf(error, call))
    }
    if (!cell) return handle(call)
    const { name, grpc } = cell
    const forwarded = grpc.makeServerStreamRequest(
      ...[method.path, bytesOf(method), method.responseDeserialize],
      call.request,
      metadataOf(call, own),
      { deadline: call.getDeadline() },
    )
    call.once('cancelled', () => forwarded.cancel())
    forwarded.on('error', (error: ServiceError) => {
      if (!call.cancelled) call.emit('error', statusOf(error, name, call))
    })
    // Reads from the other cell only as fast as the client reads.
    forwarded.pipe(call)
  }
}

function targetOf(call: Call, cellOf: CellOfCall): OtherCell | null {
  requireSize(call.request)
  return cellOf(call, isForwarded(call.metadata))
}

/** Methods whose requests are bytes send them unchanged. */
const bytesOf =
  ({ requestSerialize }: Method) =>
  (request: unknown): Buffer =>
    Buffer.isBuffer(request) ? request : requestSerialize(request)

function metadataOf(call: Call, own: string): Metadata {
  const metadata = call.metadata.clone()
  metadata.remove('user-agent')
  metadata.set(forwardedHeader, own)
  return metadata
}

function statusOf(error: ServiceError, cell: string, call: Call): Partial<ServiceError> {
  const unreachable = otherCellUnreachable(error, cell)
  if (unreachable) return failureOf(unreachable, call)
  // Every other status passes unchanged. CANCELLED comes from `forwarded.cancel()`, which runs when the caller here has gone.
  return { code: error.code ?? status.UNKNOWN, details: error.details, metadata: error.metadata }
}
