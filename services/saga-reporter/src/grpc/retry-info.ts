import { BinaryWriter } from '@bufbuild/protobuf/wire'

/** The trailer in which gRPC carries a `google.rpc.Status`. */
export const statusDetailsKey = 'grpc-status-details-bin'

const retryInfoType = 'type.googleapis.com/google.rpc.RetryInfo'

/**
 * A `google.rpc.Status` with one detail, `google.rpc.RetryInfo`: how long to wait before trying again.
 * The messages have one or two fields each, so they are written by hand and not generated.
 */
export function encodeRetryInfo(code: number, message: string, retryAfterMs: number): Buffer {
  const milliseconds = Math.max(0, Math.ceil(retryAfterMs))
  const duration = new BinaryWriter()
    .uint32(field(1, varint))
    .int64(Math.floor(milliseconds / 1000))
    .uint32(field(2, varint))
    .int32((milliseconds % 1000) * 1_000_000)
    .finish()
  const retryInfo = new BinaryWriter().uint32(field(1, bytes)).bytes(duration).finish()
  const any = new BinaryWriter()
    .uint32(field(1, bytes))
    .string(retryInfoType)
    .uint32(field(2, bytes))
    .bytes(retryInfo)
    .finish()
  const status = new BinaryWriter()
    .uint32(field(1, varint))
    .int32(code)
    .uint32(field(2, bytes))
    .string(message)
    .uint32(field(3, bytes))
    .bytes(any)
  return Buffer.from(status.finish())
}

const varint = 0
const bytes = 2
const field = (number: number, wireType: number) => (number << 3) | wireType
