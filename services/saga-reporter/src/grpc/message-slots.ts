import type { Socket } from 'node:net'
import { Slots } from '@switchyard/service-kit/slots'

/** The share that is reserved for senders without a slot, so that busy senders do not block new ones. */
const reservedShare = 0.25
/** Slots that the calls of a sender may hold together. */
const senderMax = 16
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

export interface MessageClaim {
  /** The `host:port` of the call's connection. */
  peer: string
  /** The sender whose slots the call takes. */
  sender: string
  /** Called once there is a slot. */
  startReading: () => void
  /** Returns whether the stream of the call is closed. */
  isClosed: () => boolean
}

/** A call, from its wait for a slot until it leaves the slot. */
interface Reader {
  sender: string
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
 * The slots that limit the memory of incomplete messages. Slots belong to senders, because a gateway opens a
 * connection for each call. Calls of the sender with the fewest slots go first. The server can end
 * connections, not single calls. While calls wait and no slot is free, connections are ended that hold slots
 * and send nothing, or whose messages take too long; also while they keep another connection of their own
 * sender waiting. While a sender waits for its first slot, the largest connection of the sender with the most
 * slots is ended.
 */
export class MessageSlots {
  readonly #slots: Slots
  readonly #slotsMax: number
  readonly #connections = new Map<string, Connection>()
  #timer: NodeJS.Timeout | undefined

  /** @param slotsMax most calls whose messages are read at the same time; a message has up to 4 MiB */
  constructor(slotsMax: number) {
    this.#slotsMax = slotsMax
    this.#slots = new Slots(
      {
        total: slotsMax,
        perSender: senderMax,
        reservedShare,
        // A call may wait until its deadline, or until its connection is closed.
        waitMs: Number.POSITIVE_INFINITY,
      },
      { sender: 'too many messages of this sender', everybody: 'too many messages', retryAfterMs: 1000 },
    )
  }

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

  /** Reads the message of a call as soon as there is a slot. */
  enter({ peer, sender, startReading, isClosed }: MessageClaim): MessageSlot {
    const connection = this.#connections.get(peer)
    // The connection is closed, so its calls have ended.
    if (!connection) return { leave: () => {}, abandon: () => {} }
    const { waiting, reading, abandoned } = connection
    let giveUp: () => void = () => {}
    const leave = () => {
      for (const readers of [waiting, reading, abandoned]) readers.delete(reader)
      giveUp()
    }
    const reader: Reader = { sender, isClosed, sinceMs: performance.now(), leave }
    const read = (giveBack: () => void) => {
      giveUp = giveBack
      reader.sinceMs = performance.now()
      reading.add(reader)
      startReading()
    }
    freeClosed(connection)
    const giveBack = this.#slots.tryTake({ sender })
    if (giveBack) read(giveBack)
    else {
      waiting.add(reader)
      const leaving = new AbortController()
      giveUp = () => leaving.abort()
      this.#wait(sender, leaving.signal, (taken) => {
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
  #wait(sender: string, left: AbortSignal, onTaken: (giveBack: () => void) => void): void {
    this.#slots.take({ sender }, left).then(
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
    this.#endHolders()
    this.#checkLater()
  }

  #endHolders(): void {
    const { held, waiting } = this.#slots.count()
    const isFull = held >= this.#slotsMax * (1 - reservedShare) && waiting > 0
    const holders = [...this.#connections.values()].filter((connection) => slotsOf(connection) > 0)
    const heldBy = countBySender(holders)
    const blocked = this.#blockedSenders(heldBy)
    const isInTheWay = (connection: Connection) =>
      isFull || readersOf(connection).some(({ sender }) => blocked.has(sender))
    const stalled = holders.filter((connection) => isStalled(connection) && isInTheWay(connection))
    for (const { socket } of stalled) socket.destroy()
    if (stalled.length > 0 || [...blocked].every((sender) => heldBy.has(sender))) return
    const [most] = [...heldBy].toSorted(([, one], [, other]) => other - one)
    if (most && most[1] > 1) largestOf(most[0], holders)?.socket.destroy()
  }

  /**
   * Returns the senders of calls that have waited for longer than one interval, while the sender or the
   * connection of the call holds no slot.
   */
  #blockedSenders(heldBy: ReadonlyMap<string, number>): Set<string> {
    const nowMs = performance.now()
    const blocked = new Set<string>()
    for (const connection of this.#connections.values())
      for (const { sender, sinceMs } of connection.waiting) {
        const isFirst = slotsOf(connection) === 0 || !heldBy.has(sender)
        if (isFirst && nowMs - sinceMs >= checkEveryMs) blocked.add(sender)
      }
    return blocked
  }
}

/** Frees the slots of abandoned calls whose stream is closed, because no event reports that. */
function freeClosed({ abandoned }: Connection): void {
  for (const reader of abandoned) if (reader.isClosed()) reader.leave()
}

const slotsOf = ({ reading, abandoned }: Connection): number => reading.size + abandoned.size

const readersOf = ({ reading, abandoned }: Connection): Reader[] => [...reading, ...abandoned]

/** Returns the connection of a sender that holds the most slots, and among equals the oldest message. */
function largestOf(sender: string, holders: readonly Connection[]): Connection | undefined {
  const sinceMs = (connection: Connection) =>
    Math.min(...readersOf(connection).map((reader) => reader.sinceMs))
  const [largest] = holders
    .filter((connection) => readersOf(connection).some((reader) => reader.sender === sender))
    .toSorted((one, other) => slotsOf(other) - slotsOf(one) || sinceMs(one) - sinceMs(other))
  return largest
}

function countBySender(holders: readonly Connection[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { sender } of holders.flatMap(readersOf)) counts.set(sender, (counts.get(sender) ?? 0) + 1)
  return counts
}

/** Returns whether a connection holds slots without completing its messages. */
function isStalled({ reading, abandoned, silentChecks }: Connection): boolean {
  if (abandoned.size > 0) return true
  if (silentChecks >= silentChecksMax) return reading.size > 0
  const [oldest] = reading
  return oldest !== undefined && performance.now() - oldest.sinceMs > arrivalMsMax
}

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress}:${remotePort}`
