import { createHash } from 'node:crypto'
import {
  ActivityCompensateAbortedRequest,
  ActivityEndedRequest,
  ActivityExecuteAbortedRequest,
  ActivityExecuteOvertimeRequest,
  ActivityExecuteStartedRequest,
} from '@switchyard/contracts/saga'
import type { Cut, RawSagaEvent } from '@switchyard/domain/saga'

export interface RequestLimits {
  /** Bytes of a payload that are kept whole. */
  payloadBytesMax: number
  errorsBytesMax: number
}

/** A request of which as much is kept as may be. */
export interface KeptRequest {
  raw: RawSagaEvent
  request: Uint8Array
  /** What was cut off it; null when it is whole. */
  cut: Cut | null
}

/** What is kept of a payload that is too large. */
const headBytes = 4096

/** Keeps the head of a payload or of errors that are too large, with size and SHA-256 of the whole. */
export function cutRequest(raw: RawSagaEvent, request: Uint8Array, limits: RequestLimits): KeptRequest {
  const { payloadBytesMax, errorsBytesMax } = limits
  // No part of a message is larger than the message.
  if (request.length <= payloadBytesMax && request.length <= errorsBytesMax)
    return { raw, request, cut: null }
  switch (raw.operation) {
    case 'ActivityExecuteStarted': {
      if (raw.parameterData.length <= payloadBytesMax) break
      const kept = { ...raw, parameterData: headOf(raw.parameterData) }
      const bytes = ActivityExecuteStartedRequest.encode({
        ...kept,
        parameterData: Buffer.from(kept.parameterData),
      })
      return { raw: kept, request: bytes.finish(), cut: cutOf(raw.parameterData) }
    }
    case 'ActivityEnded': {
      if (raw.resultData.length <= payloadBytesMax) break
      const kept = { ...raw, resultData: headOf(raw.resultData) }
      const bytes = ActivityEndedRequest.encode({ ...kept, resultData: Buffer.from(kept.resultData) })
      return { raw: kept, request: bytes.finish(), cut: cutOf(raw.resultData) }
    }
    case 'ActivityExecuteAborted':
    case 'ActivityExecuteOvertime':
    case 'ActivityCompensateAborted': {
      const errors = Buffer.from(raw.errors)
      if (errors.length <= errorsBytesMax) break
      const kept = { ...raw, errors: headOfText(errors, errorsBytesMax) }
      return { raw: kept, request: encodeErrors(kept), cut: cutOf(errors) }
    }
    default:
  }
  return { raw, request, cut: null }
}

type WithErrors = Extract<RawSagaEvent, { errors: string }>

function encodeErrors(raw: WithErrors): Uint8Array {
  if (raw.operation === 'ActivityExecuteAborted') return ActivityExecuteAbortedRequest.encode(raw).finish()
  if (raw.operation === 'ActivityExecuteOvertime') return ActivityExecuteOvertimeRequest.encode(raw).finish()
  return ActivityCompensateAbortedRequest.encode(raw).finish()
}

const cutOf = (whole: Uint8Array): Cut => ({
  size: whole.length,
  sha256: createHash('sha256').update(whole).digest(),
})

/** A copy, so that the whole need not stay in memory. */
const headOf = (payload: Uint8Array): Uint8Array => Buffer.from(payload.subarray(0, headBytes))

/** Without the character that the cut goes through. */
const headOfText = (errors: Buffer, bytesMax: number): string =>
  new TextDecoder().decode(errors.subarray(0, bytesMax), { stream: true })
