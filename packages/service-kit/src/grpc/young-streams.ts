import type { Http2Server } from 'node:http2'

/** All that node:http2 asks of a session's table of streams. Keys are their numbers, which count up. */
interface StreamTable {
  readonly size: number
  get(id: number): object | undefined
  set(id: number, stream: object): unknown
  delete(id: number): boolean
  forEach(callback: (stream: object, id: number) => void): void
}

/** All that it asks of a session's set of streams that have no number yet. */
interface StreamSet {
  readonly size: number
  add(stream: object): unknown
  delete(stream: object): boolean
  forEach(callback: (stream: object) => void): void
}

/**
 * Lets calls that are over be collected while they are young.
 *
 * node:http2 keeps the streams of a connection in a Map, which is laid out anew after some hundred calls, and for a
 * moment each in a Set, which is laid out anew whenever it becomes empty. V8 links the old layout to the new one. As soon
 * as one of them has got old, it keeps all that follow, and with them each call that was under way at such a moment,
 * until everything is marked: young collections take four times as long, and what they move is what makes whole ones
 * necessary every few seconds. Tables without such links have neither.
 */
export function keepStreamsYoung(http2Server: Http2Server): void {
  http2Server.on('session', replaceTables)
}

/** Where the inside of node:http2 is not as it is known, it stays as it is. */
function replaceTables(session: object): void {
  const symbol = Object.getOwnPropertySymbols(session).find(({ description }) => description === 'state')
  const state: unknown = symbol && Reflect.get(session, symbol)
  if (typeof state !== 'object' || state === null) return
  const streams: unknown = Reflect.get(state, 'streams')
  if (isTable(streams)) Reflect.set(state, 'streams', new PlainTable(streams))
  const pending: unknown = Reflect.get(state, 'pendingStreams')
  if (isSet(pending)) Reflect.set(state, 'pendingStreams', new PlainSet(pending))
}

/** They are a Map and a Set of Node's own, which are no instances of ours. */
const isTable = (streams: unknown): streams is StreamTable =>
  Object.prototype.toString.call(streams) === '[object Map]'
const isSet = (streams: unknown): streams is StreamSet =>
  Object.prototype.toString.call(streams) === '[object Set]'

class PlainTable implements StreamTable {
  readonly #streams: Record<number, object> = Object.create(null)
  size = 0

  constructor(streams: StreamTable) {
    streams.forEach((stream, id) => {
      this.set(id, stream)
    })
  }

  get(id: number): object | undefined {
    return this.#streams[id]
  }

  set(id: number, stream: object): this {
    if (this.#streams[id] === undefined) this.size += 1
    this.#streams[id] = stream
    return this
  }

  delete(id: number): boolean {
    if (this.#streams[id] === undefined) return false
    delete this.#streams[id]
    this.size -= 1
    return true
  }

  forEach(callback: (stream: object, id: number) => void): void {
    for (const [id, stream] of Object.entries(this.#streams)) callback(stream, Number(id))
  }
}

/** Seldom of more than one. */
class PlainSet implements StreamSet {
  #streams: object[] = []

  constructor(streams: StreamSet) {
    streams.forEach((stream) => {
      this.add(stream)
    })
  }

  get size(): number {
    return this.#streams.length
  }

  add(stream: object): this {
    if (!this.#streams.includes(stream)) this.#streams.push(stream)
    return this
  }

  delete(stream: object): boolean {
    const index = this.#streams.indexOf(stream)
    if (index !== -1) this.#streams.splice(index, 1)
    return index !== -1
  }

  forEach(callback: (stream: object) => void): void {
    for (const stream of [...this.#streams]) callback(stream)
  }
}
