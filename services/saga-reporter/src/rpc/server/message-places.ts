import type { Socket } from 'node:net'

/** Calls whose messages may be read at the same time: a message has up to 4 MiB, so they hold 256 MiB at most. */
const placesMax = 64
/** Places among them that only connections without a place can take, so that busy connections do not block new ones. */
const firstPlaces = 16
/** Places that the calls of one connection may take. */
const placesPerConnectionMax = 16
/** Interval of the checks for stalled connections while calls wait for a place. */
const checkEveryMs = 500
/** A connection that has sent nothing between this number of checks in a row counts as stalled. */
const silentChecksMax = 3
/** How long a message may take to arrive while calls wait for a place. */
const arrivalMsMax = 30_000

/** The permission to read the message of one call. */
export interface MessagePlace {
  /** Frees the place: the message is complete, or the call ended before its message was read. */
  leave(): void
  /** The call is answered before its message is complete. The library keeps its bytes until the stream is closed. */
  abandon(): void
}

/** A call, from the moment it waits for a place until it has left it. */
interface Reader {
  connection: Connection
  startReading: () => void
  /** Whether its stream is closed, so that the bytes of its message are freed. */
  isClosed: () => boolean
  sinceMs: number
  state: 'waiting' | 'reading' | 'abandoned' | 'left'
}

interface Connection {
  socket: Socket
  waiting: Set<Reader>
  reading: Set<Reader>
  abandoned: Set<Reader>
  /** Bytes received at the last check, and the number of checks in a row without new bytes. */
  bytesSeen: number
  silentChecks: number
}

/**
 * Bounds the memory of unfinished messages. Calls of the connection with the fewest places go first. While calls wait and
 * no place is free, connections are closed that hold places and send nothing, or whose messages take too long. While a
 * connection waits for its first place, the connection with the most places is closed.
 */
export class MessagePlaces {
  readonly #connections = new Map<string, Connection>()
  readonly #withWaiting = new Set<Connection>()
  #taken = 0
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
      this.#withWaiting.delete(connection)
      for (const reader of [...connection.reading, ...connection.abandoned, ...connection.waiting])
        this.#leave(reader)
    })
  }

  /**
   * Reads the message of a call, at once or when there is a place.
   *
   * @param peer the call's `host:port`
   * @param startReading called once there is a place
   * @param isClosed whether the stream of the call is closed
   */
  enter(peer: string, startReading: () => void, isClosed: () => boolean): MessagePlace {
    const connection = this.#connections.get(peer)
    // The connection has been closed, and its calls have ended.
    if (!connection) return { leave: () => {}, abandon: () => {} }
    const reader: Reader = {
      connection,
      startReading,
      isClosed,
      sinceMs: performance.now(),
      state: 'waiting',
    }
    connection.waiting.add(reader)
    this.#withWaiting.add(connection)
    this.#freeClosed(connection)
    this.#assign()
    return {
      leave: () => this.#leave(reader),
      abandon: () => {
        if (reader.state !== 'reading') return this.#leave(reader)
        reader.state = 'abandoned'
        connection.reading.delete(reader)
        connection.abandoned.add(reader)
        this.#assign()
      },
    }
  }

  /** No event reports that the stream of an abandoned call is closed. */
  #freeClosed({ abandoned }: Connection): void {
    for (const reader of abandoned) if (reader.isClosed()) this.#leave(reader)
  }

  #leave(reader: Reader): void {
    const { connection, state } = reader
    if (state === 'left') return
    reader.state = 'left'
    connection[state].delete(reader)
    if (state === 'waiting') {
      if (connection.waiting.size === 0) this.#withWaiting.delete(connection)
      return
    }
    this.#taken -= 1
    this.#assign()
  }

  #assign(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      const { connection } = next
      connection.waiting.delete(next)
      if (connection.waiting.size === 0) this.#withWaiting.delete(connection)
      connection.reading.add(next)
      next.state = 'reading'
      next.sinceMs = performance.now()
      this.#taken += 1
      next.startReading()
    }
    if (this.#withWaiting.size > 0) this.#timer ??= setTimeout(() => this.#check(), checkEveryMs).unref()
  }

  /** The oldest waiting call of the connection that has the fewest places, when there is a place for it. */
  #next(): Reader | undefined {
    let chosen: Connection | undefined
    for (const connection of this.#withWaiting) {
      if (placesOf(connection) >= placesPerConnectionMax) continue
      if (!chosen || placesOf(connection) < placesOf(chosen)) chosen = connection
    }
    if (!chosen) return undefined
    const isFirst = placesOf(chosen) === 0
    if (this.#taken >= (isFirst ? placesMax : placesMax - firstPlaces)) return undefined
    return chosen.waiting.values().next().value
  }

  #check(): void {
    this.#timer = undefined
    for (const connection of this.#connections.values()) this.#freeClosed(connection)
    for (const connection of this.#connections.values()) {
      const { bytesRead } = connection.socket
      connection.silentChecks = bytesRead === connection.bytesSeen ? connection.silentChecks + 1 : 0
      connection.bytesSeen = bytesRead
    }
    if (this.#taken >= placesMax - firstPlaces && this.#withWaiting.size > 0) this.#endHolders()
    this.#assign()
  }

  #endHolders(): void {
    const holders = [...this.#connections.values()].filter((connection) => placesOf(connection) > 0)
    const stalled = holders.filter(isStalled)
    for (const { socket } of stalled) socket.destroy()
    if (stalled.length > 0 || !this.#isAnyWithoutPlace()) return
    const [most] = holders.toSorted((one, other) => placesOf(other) - placesOf(one))
    if (most && placesOf(most) > 1) most.socket.destroy()
  }

  /** Whether a connection has waited for its first place for longer than one interval. */
  #isAnyWithoutPlace(): boolean {
    const nowMs = performance.now()
    return [...this.#withWaiting].some((connection) => {
      const [oldest] = connection.waiting
      return placesOf(connection) === 0 && oldest !== undefined && nowMs - oldest.sinceMs >= checkEveryMs
    })
  }
}

const placesOf = ({ reading, abandoned }: Connection): number => reading.size + abandoned.size

/** Whether a connection holds places without getting its messages through. */
function isStalled({ reading, abandoned, silentChecks }: Connection): boolean {
  if (abandoned.size > 0) return true
  if (silentChecks >= silentChecksMax) return reading.size > 0
  const [oldest] = reading
  return oldest !== undefined && performance.now() - oldest.sinceMs > arrivalMsMax
}

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress}:${remotePort}`
