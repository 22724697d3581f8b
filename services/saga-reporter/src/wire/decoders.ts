import { SagaService } from '@switchyard/contracts/saga'
import { addTimeOf } from '@switchyard/contracts/saga-add-time'
import { invalidParameters } from '@switchyard/domain'
import type { RawSagaEvent, SagaEvent } from '@switchyard/domain/saga'
import { z } from 'zod'
import { type ReportedOperation, requestFields } from './operations.js'

/**
 * Reads the request of one operation.
 *
 * @throws DomainError invalid-parameters when the bytes are not a message of the operation
 */
export type Decoder = (request: Uint8Array) => RawSagaEvent

const json = (request: Uint8Array): unknown => JSON.parse(Buffer.from(request).toString())

const resolved = z.object({ sagaId: z.string(), author: z.string(), note: z.string() })

/** The requests of operators are not part of the contract: the log keeps them as JSON. */
const decodeResolved = (request: Uint8Array): RawSagaEvent => ({
  operation: 'OperatorResolved',
  ...resolved.parse(json(request)),
})

const resolvedAt = z.iso.datetime()
const undone = z.object({
  sagaId: z.string(),
  author: z.string(),
  resolvedAt,
  previousResolvedAt: resolvedAt.nullable(),
  previousResolvedBy: z.string().nullable(),
})

const decodeResolutionUndone = (request: Uint8Array): RawSagaEvent => ({
  operation: 'OperatorResolutionUndone',
  ...undone.parse(json(request)),
})

/** The fields of a message are those of the event. */
const decodeMessage = (operation: ReportedOperation) => (request: Uint8Array) => {
  const message = SagaService[requestFields[operation]].requestDeserialize(request as Buffer)
  const { _unknownFields, ...fields } = message
  const addTime =
    operation === 'SagaStarted' ? { addTime: addTimeOf({ sagaId: '', serviceName: '', _unknownFields }) } : {}
  return { operation, ...fields, ...addTime } as RawSagaEvent
}

const checked =
  (decode: Decoder): Decoder =>
  (request) => {
    try {
      return decode(request)
    } catch {
      throw invalidParameters(['the request is not a message of this operation'])
    }
  }

/** The decoder of each operation, for calls and for the log, which keeps requests as they came. */
export const decoders = Object.fromEntries([
  ['OperatorResolved', checked(decodeResolved)],
  ['OperatorResolutionUndone', checked(decodeResolutionUndone)],
  ...Object.keys(requestFields).map((operation) => [
    operation,
    checked(decodeMessage(operation as ReportedOperation)),
  ]),
]) as Record<SagaEvent['operation'], Decoder>
