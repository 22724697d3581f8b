import { LRUCache } from 'lru-cache'

/** What an answer takes in memory besides its texts, roughly. */
const entryBytes = 200
/** One answer may take this part of the whole. */
const largestPart = 8
const repositoriesMax = 20_000
const totalsMax = 50_000
const refusalsMax = 2_000

type Value = object

/**
 * Answers of git that can never change: each belongs to one object id of one repository. References are
 * not remembered here, so a branch that moves is seen at once, by every process on the same storage.
 */
export class GitCache {
  readonly #answers: LRUCache<string, Value> | null
  /** Kept whatever memory answers may take: what cannot be answered is what took git the most. */
  readonly #refusals = new LRUCache<string, Error>({ max: refusalsMax })
  readonly #totals = new LRUCache<string, number>({ max: totalsMax })
  readonly #scopes = new LRUCache<string, number>({ max: repositoriesMax })
  readonly #bytesMax: number
  #lastScope = 0

  /** @param bytesMax of all answers together; 0: none are kept */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
    this.#answers = bytesMax === 0 ? null : new LRUCache({ maxSize: bytesMax })
  }

  /** @param key the object id, and what was asked about it */
  get<T extends Value>(path: string, key: string): T | undefined {
    return this.#answers?.get(`${this.#scopeOf(path)} ${key}`) as T | undefined
  }

  /** @param bytes roughly what the value takes */
  set(path: string, key: string, value: Value, bytes: number): void {
    const size = Math.ceil(bytes) + entryBytes
    if (size * largestPart > this.#bytesMax) return
    this.#answers?.set(`${this.#scopeOf(path)} ${key}`, value, { size })
  }

  /** Why a question has no answer. */
  getRefusal(path: string, key: string): Error | undefined {
    return this.#refusals.get(`${this.#scopeOf(path)} ${key}`)
  }

  /** @param holdsMs how long to believe it; unset: for good */
  setRefusal(path: string, key: string, refusal: Error, holdsMs?: number): void {
    this.#refusals.set(`${this.#scopeOf(path)} ${key}`, refusal, { ttl: holdsMs ?? 0 })
  }

  /** How many commits a query has, from the tips that are part of the key. */
  getTotal(path: string, key: string): number | undefined {
    return this.#totals.get(`${this.#scopeOf(path)} ${key}`)
  }

  setTotal(path: string, key: string, total: number): void {
    this.#totals.set(`${this.#scopeOf(path)} ${key}`, total)
  }

  /** Nothing that is remembered of a removed repository holds for another one at its place. */
  forget(path: string): void {
    this.#scopes.delete(path)
  }

  #scopeOf(path: string): number {
    const known = this.#scopes.get(path)
    if (known !== undefined) return known
    this.#lastScope += 1
    this.#scopes.set(path, this.#lastScope)
    return this.#lastScope
  }
}
