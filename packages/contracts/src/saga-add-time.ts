import { BinaryReader } from '@bufbuild/protobuf/wire'
import type { SagaStartedRequest } from './gen/saga.js'

/** Field 3, length-delimited: not in the contract, yet sent by some clients. */
const addTimeTag = (3 << 3) | 2

/**
 * The client's start time that some clients add to SagaStarted as field 3, as text; empty when it was not sent.
 * The last one counts, as for every repeated singular field. Bytes that are no text count as not sent.
 */
export function addTimeOf(request: SagaStartedRequest): string {
  const field = request._unknownFields?.[addTimeTag]?.at(-1)
  if (!field) return ''
  try {
    return new BinaryReader(field).string()
  } catch {
    return ''
  }
}
