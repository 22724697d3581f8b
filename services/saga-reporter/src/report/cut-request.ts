import { createHash } from 'node:crypto'
import type { Cut, RawActivityEvent, RawSagaEvent } from '@switchyard/domain/saga'
import { serializeRequest } from '../shapes/operations.js'
import { headOfText } from '../shapes/payload.js'

export interface RequestLimits {
  /** Largest payload that is stored completely. */
  payloadBytesMax: number
  errorsBytesMax: number
}

/** A request in its stored form. */
interface KeptRequest {
  raw: RawSagaEvent
  request: Uint8Array
  /** Size and digest of the whole payload or errors; null when the request is stored completely. */
  cut: Cut | null
}

/** Bytes that are stored of a payload that is too large. */
const headBytes = 4096

/** Shortens a payload or errors that are too large to their head, with size and SHA-256 of the whole. */
export function cutRequest(raw: RawSagaEvent, request: Uint8Array, limits: RequestLimits): KeptRequest {
  const { payloadBytesMax, errorsBytesMax } = limits
  const unchanged = { raw, request, cut: null }
  // A part of a message is not larger than the message.
  if (request.length <= payloadBytesMax && request.length <= errorsBytesMax) return unchanged
  if ('parameterData' in raw && raw.parameterData.length > payloadBytesMax)
    return kept({ ...raw, parameterData: headOf(raw.parameterData) }, raw.parameterData)
  if ('resultData' in raw && raw.resultData.length > payloadBytesMax)
    return kept({ ...raw, resultData: headOf(raw.resultData) }, raw.resultData)
  if ('errors' in raw) {
    const errors = Buffer.from(raw.errors)
    if (errors.length > errorsBytesMax)
      return kept({ ...raw, errors: headOfText(errors, errorsBytesMax) }, errors)
  }
  return unchanged
}

const kept = (raw: RawActivityEvent, original: Uint8Array): KeptRequest => ({
  raw,
  request: serializeRequest(raw.operation, raw),
  cut: { size: original.length, sha256: createHash('sha256').update(original).digest() },
})

/** Copies the head, so that the payload itself can be freed. */
const headOf = (payload: Uint8Array): Uint8Array => Buffer.from(payload.subarray(0, headBytes))
