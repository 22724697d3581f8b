/** The kinds of frames: RFC 9113, section 6. */
export const frameTypes = {
  data: 0x0,
  headers: 0x1,
  priority: 0x2,
  resetStream: 0x3,
  settings: 0x4,
  pushPromise: 0x5,
  ping: 0x6,
  goAway: 0x7,
  windowUpdate: 0x8,
  continuation: 0x9,
} as const

/** What a frame says beside its payload. A bit's meaning depends on the kind of frame. */
export const frameFlags = {
  none: 0,
  endStream: 0x1,
  ack: 0x1,
  endHeaders: 0x4,
  padded: 0x8,
  priority: 0x20,
} as const

/** Bytes before each payload: its length, the kind, the flags and the stream. */
export const frameHeaderBytes = 9

/** The largest payload in either direction. Every peer takes it, and larger ones are no faster here. */
export const payloadBytesMax = 16_384

/** What a window has before the peer's settings say otherwise. */
export const windowBytesInitial = 65_535

/** The largest window, and the largest number of a stream. */
export const int31Max = 2 ** 31 - 1
