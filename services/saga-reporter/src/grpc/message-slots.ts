import type { Socket } from 'node:net'
import { Slots } from '@switchyard/service-kit/slots'

/**
 * Most calls whose messages are read at the same time. A message has up to 4 MiB, so together they hold at
 * most 256 MiB.
 */
const slotsMax = 64
/**
 * The share that is reserved for connections without a slot, so that busy connections do not block new ones.
 */
const reservedShare = 0.25
/** Most slots that the calls of a connection may hold together. */
const slotsPerConnectionMax = 16
/** Interval of the checks for stalled connections while calls wait for a slot. */
const checkEveryMs = 500
/** Number of consecutive checks without new bytes after which a connection counts as stalled. */
const silentChecksMax = 3
/** Longest time in which a message may arrive while calls wait for a slot. */
const arrivalMsMax = 30_000

/** The permission to read the message of one call. */
export interface MessageSlot {
  /** Frees the slot: the message is complete, or the call ended before its message was read. */
  leave(): void
  /**
   * Marks the call as answered before its message is complete. The library keeps its bytes until the stream
   * is closed.
   */
  abandon(): void
}

/** A call, from its wait for a slot until it leaves the slot. */
interface Reader {
  /** Whether its stream is closed, which frees the bytes of its message. */
  isClosed: () => boolean
  sinceMs: number
  leave: () => void
}

interface Connection {
  socket: Socket
  waiting: Set<Reader>
  reading: Set<Reader>
  abandoned: Set<Reader>
  /** Bytes received at the last check, and the number of consecutive checks without new bytes. */
  bytesSeen: number
  silentChecks: number
}

/**
 * The slots that limit the memory of incomplete messages. Calls of the connection with the fewest slots go
 * first. While calls wait and no slot is free, connections are closed that hold slots and send nothing, or
 * whose messages take too long. While a connection waits for its first slot, the connection with the most
 * slots is closed.
 */
export class MessageSlots {
  readonly #slots = new Slots(
    {
      total: slotsMax,
      perSender: slotsPerConnectionMax,
      reservedShare,
      // A call may wait until its deadline, or until its connection is closed.
      waitMs: Number.POSITIVE_INFINITY,
    },
    { sender: 'too many messages of this connection', everybody: 'too many messages', retryAfterMs: 1000 },
  )
  readonly #connections = new Map<string, Connection>()
  #timer: NodeJS.Timeout | undefined

  /** Registers a connection, before its first call. */
  add(socket: Socket): void {
    const connection: Connection = {
      socket,
      waiting: new Set(),
      reading: new Set(),
      abandoned: new Set(),
      bytesSeen: -1,
      silentChecks: 0,
    }
    const peer = peerOf(socket)
    this.#connections.set(peer, connection)
    socket.once('close', () => {
      this.#connections.delete(peer)
      const { waiting, reading, abandoned } = connection
      for (const reader of [...waiting, ...abandoned, ...reading]) reader.leave()
    })
  }

  /**
   * Reads the message of a call as soon as there is a slot.
   *
   * @param peer the call's `host:port`
   * @param startReading called once there is a slot
   * @param isClosed whether the stream of the call is closed
   */
  enter(peer: string, startReading: () => void, isClosed: () => boolean): MessageSlot {
    const connection = this.#connections.get(peer)
    // The connection is closed, so its calls have ended.
    if (!connection) return { leave: () => {}, abandon: () => {} }
    const { waiting, reading, abandoned } = connection
    let giveUp: () => void = () => {}
    const leave = () => {
      for (const readers of [waiting, reading, abandoned]) readers.delete(reader)
      giveUp()
    }
    const reader: Reader = { isClosed, sinceMs: performance.now(), leave }
    const read = (giveBack: () => void) => {
      giveUp = giveBack
      reader.sinceMs = performance.now()
      reading.add(reader)
      startReading()
    }
    freeClosed(connection)
    const giveBack = this.#slots.tryTake({ sender: peer })
    if (giveBack) read(giveBack)
    else {
      waiting.add(reader)
      const leaving = new AbortController()
      giveUp = () => leaving.abort()
      this.#wait(peer, leaving.signal, (taken) => {
        waiting.delete(reader)
        read(taken)
      })
    }
    return {
      leave,
      abandon: () => {
        if (reading.delete(reader)) abandoned.add(reader)
        else if (waiting.has(reader)) leave()
      },
    }
  }

  /** Takes a slot as soon as there is one, unless the call leaves earlier. */
  #wait(peer: string, left: AbortSignal, onTaken: (giveBack: () => void) => void): void {
    this.#slots.take({ sender: peer }, left).then(
      (giveBack) => (left.aborted ? giveBack() : onTaken(giveBack)),
      () => {
        // The call has left before it got a slot.
      },
    )
    this.#checkLater()
  }

  #checkLater(): void {
    if (this.#slots.count().waiting > 0) this.#timer ??= setTimeout(() => this.#check(), checkEveryMs).unref()
  }

  #check(): void {
    this.#timer = undefined
    for (const connection of this.#connections.values()) freeClosed(connection)
    for (const connection of this.#connections.values()) {
      const { bytesRead } = connection.socket
      connection.silentChecks = bytesRead === connection.bytesSeen ? connection.silentChecks + 1 : 0
      connection.bytesSeen = bytesRead
    }
    const { held, waiting } = this.#slots.count()
    if (held >= slotsMax * (1 - reservedShare) && waiting > 0) this.#endHolders()
    this.#checkLater()
  }

  #endHolders(): void {
    const holders = [...this.#connections.values()].filter((connection) => slotsOf(connection) > 0)
    const stalled = holders.filter(isStalled)
    for (const { socket } of stalled) socket.destroy()
    if (stalled.length > 0 || !this.#isAnyWithoutSlot()) return
    const [most] = holders.toSorted((one, other) => slotsOf(other) - slotsOf(one))
    if (most && slotsOf(most) > 1) most.socket.destroy()
  }

  /** Returns whether a connection has waited for its first slot for longer than one interval. */
  #isAnyWithoutSlot(): boolean {
    const nowMs = performance.now()
    return [...this.#connections.values()].some((connection) => {
      const [oldest] = connection.waiting
      return slotsOf(connection) === 0 && oldest !== undefined && nowMs - oldest.sinceMs >= checkEveryMs
    })
  }
}

/** Frees the slots of abandoned calls whose stream is closed, because no event reports that. */
function freeClosed({ abandoned }: Connection): void {
  for (const reader of abandoned) if (reader.isClosed()) reader.leave()
}

const slotsOf = ({ reading, abandoned }: Connection): number => reading.size + abandoned.size

/** Returns whether a connection holds slots without completing its messages. */
function isStalled({ reading, abandoned, silentChecks }: Connection): boolean {
  if (abandoned.size > 0) return true
  if (silentChecks >= silentChecksMax) return reading.size > 0
  const [oldest] = reading
  return oldest !== undefined && performance.now() - oldest.sinceMs > arrivalMsMax
}

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress}:${remotePort}`
