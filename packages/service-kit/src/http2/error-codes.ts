/** Why a stream or a connection ends: RFC 9113, section 7. */
export const errorCodes = {
  noError: 0x0,
  protocolError: 0x1,
  flowControlError: 0x3,
  streamClosed: 0x5,
  frameSizeError: 0x6,
  refusedStream: 0x7,
  cancel: 0x8,
  compressionError: 0x9,
  enhanceYourCalm: 0xb,
} as const

/** A fault of the peer after which nothing on its connection can be understood; it ends with GOAWAY. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'

  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message)
  }
}
