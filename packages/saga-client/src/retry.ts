import { BinaryReader } from '@bufbuild/protobuf/wire'
import { type ServiceError, status } from '@grpc/grpc-js'

const retryInfoType = 'type.googleapis.com/google.rpc.RetryInfo'

/**
 * Returns whether the same events may be sent again after this failure: they were not stored, or it is
 * unknown whether they were. Events keep their ids, so a stored event becomes a `duplicate`.
 */
export function isRetryable(error: ServiceError): boolean {
  if (error.code === status.UNAVAILABLE || error.code === status.DEADLINE_EXCEEDED) return true
  // Too many events, calls or connections. A message that is too large stays too large.
  if (error.code === status.RESOURCE_EXHAUSTED) return !/larger than max/i.test(error.details)
  // A connection that is closed in the middle of a call.
  return (
    error.code === status.CANCELLED || (error.code === status.INTERNAL && /RST_STREAM/.test(error.details))
  )
}

/**
 * Returns the wait before the next attempt. It doubles from `firstMs` to `lastMs` with jitter, so that many
 * clients do not retry at once, and is never shorter than the reporter asked for.
 *
 * @param attempt number of attempts so far
 * @param chance 0 to 1
 */
export function retryDelayMs(
  error: ServiceError,
  attempt: number,
  { firstMs, lastMs }: { firstMs: number; lastMs: number },
  chance: number = Math.random(),
): number {
  const backOffMs = Math.min(lastMs, firstMs * 2 ** (attempt - 1)) * (0.5 + chance / 2)
  const askedMs = retryInfoMs(error)
  return askedMs === null ? backOffMs : Math.max(backOffMs, askedMs * (1 + chance / 4))
}

/**
 * Returns the wait of `google.rpc.RetryInfo` in the answer; null when there is none, or an unreadable one.
 */
export function retryInfoMs(error: ServiceError): number | null {
  const encoded = error.metadata?.get('grpc-status-details-bin')[0]
  if (!Buffer.isBuffer(encoded)) return null
  try {
    for (const any of readFields(encoded, 3)) {
      const type = readFields(any, 1)[0]
      const retryInfo = readFields(any, 2)[0]
      if (type === undefined || Buffer.from(type).toString() !== retryInfoType) continue
      const duration = retryInfo && readFields(retryInfo, 1)[0]
      return duration ? durationMs(duration) : 0
    }
  } catch {
    // Details that cannot be decoded count as missing.
  }
  return null
}

const lengthDelimited = 2

/** Returns the bytes of every occurrence of a field. */
function readFields(message: Uint8Array, wanted: number): Uint8Array[] {
  const reader = new BinaryReader(message)
  const found: Uint8Array[] = []
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag()
    if (field === wanted && type === lengthDelimited) found.push(reader.bytes())
    else reader.skip(type)
  }
  return found
}

function durationMs(duration: Uint8Array): number {
  const reader = new BinaryReader(duration)
  let milliseconds = 0
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag()
    if (field === 1) milliseconds += Number(reader.int64()) * 1000
    else if (field === 2) milliseconds += reader.int32() / 1_000_000
    else reader.skip(type)
  }
  return milliseconds
}
