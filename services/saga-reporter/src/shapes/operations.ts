import { BinaryReader } from '@bufbuild/protobuf/wire'
import { SagaService } from '@switchyard/contracts/saga'
import { invalidParameters } from '@switchyard/domain'
import {
  type OperatorEvent,
  operationNames,
  operations,
  type RawSagaEvent,
  type SagaEvent,
} from '@switchyard/domain/saga'
import { z } from 'zod'

export type ReportedOperation = Exclude<SagaEvent['operation'], OperatorEvent['operation']>

/** The operations that a caller can report. */
export const reportedOperations = operationNames.filter((name) => !operations[name].isOfOperator) as [
  ReportedOperation,
  ...ReportedOperation[],
]

/** The method of each operation, which is also the field of ReportedEvent with its request. */
export const methods = Object.fromEntries(
  reportedOperations.map((operation) => [operation, operation[0]?.toLowerCase() + operation.slice(1)]),
) as { [Operation in ReportedOperation]: Uncapitalize<Operation> }

/** Serializes the request of an operation to the bytes that a single call would send. */
export function serializeRequest(operation: ReportedOperation, message: object): Buffer {
  const serialize: (message: never) => Buffer = SagaService[methods[operation]].requestSerialize
  return serialize(message as never)
}

/**
 * A function that reads the request of an operation.
 *
 * @throws DomainError invalid-parameters when the bytes are not a message of the operation
 */
export type Decoder = (request: Uint8Array) => RawSagaEvent

const json = (request: Uint8Array): unknown => JSON.parse(Buffer.from(request).toString())

const resolved = z.object({ sagaId: z.string(), author: z.string(), note: z.string() })

/** Decodes operators' requests. They are not part of the contract, so the log stores them as JSON. */
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

/** Tag of field 3, length-delimited, which some clients send although it is not in the contract. */
const addTimeTag = (3 << 3) | 2

/**
 * Returns the start time that some clients add to SagaStarted as field 3, as text; empty when it was not
 * sent. The last one counts, as for every repeated singular field. Bytes that are not a text count as
 * missing.
 */
function addTimeOf(unknownFields: Readonly<Record<number, Uint8Array[]>> = {}): string {
  const field = unknownFields[addTimeTag]?.at(-1)
  if (!field) return ''
  try {
    return new BinaryReader(field).string()
  } catch {
    return ''
  }
}

/** Decodes a message, which has the same fields as the event. */
const decodeMessage = (operation: ReportedOperation) => (request: Uint8Array) => {
  const message = SagaService[methods[operation]].requestDeserialize(request as Buffer)
  const { _unknownFields, ...fields } = message
  const addTime = operation === 'SagaStarted' ? { addTime: addTimeOf(_unknownFields) } : {}
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

/** The decoder of each operation, for calls and for the log, which stores requests unchanged. */
export const decoders = Object.fromEntries([
  ['OperatorResolved', checked(decodeResolved)],
  ['OperatorResolutionUndone', checked(decodeResolutionUndone)],
  ...reportedOperations.map((operation) => [operation, checked(decodeMessage(operation))]),
]) as Record<SagaEvent['operation'], Decoder>
