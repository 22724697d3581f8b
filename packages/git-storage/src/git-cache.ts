import { LRUCache } from 'lru-cache'

/** Approximate memory of a cache entry besides its texts. */
const entryBytes = 200
/** Divisor of the cache size. An answer larger than this part (one eighth) of the cache is not cached. */
const largestPart = 8
const repositoriesMax = 20_000
const totalsMax = 50_000
const refusalsMax = 2_000

type Value = object

/**
 * Caches answers of git that never change, because each belongs to one object id of one repository.
 * References are not cached, so every process on the same storage sees a moved branch at once.
 */
export class GitCache {
  readonly #answers: LRUCache<string, Value> | null
  /**
   * Errors are cached even when `bytesMax` is 0, because the questions that fail are the most expensive ones.
   */
  readonly #refusals = new LRUCache<string, Error>({ max: refusalsMax })
  readonly #totals = new LRUCache<string, number>({ max: totalsMax })
  readonly #scopes = new LRUCache<string, number>({ max: repositoriesMax })
  readonly #bytesMax: number
  #lastScope = 0

  /**
   * Creates a cache.
   *
   * @param bytesMax memory of all answers together; 0: answers are not cached
   */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
    this.#answers = bytesMax === 0 ? null : new LRUCache({ maxSize: bytesMax })
  }

  /**
   * Returns a cached value.
   *
   * @param key the object id and the kind of question
   */
  get<T extends Value>(path: string, key: string): T | undefined {
    return this.#answers?.get(`${this.#scopeOf(path)} ${key}`) as T | undefined
  }

  /**
   * Caches a value.
   *
   * @param bytes approximate memory of the value
   */
  set(path: string, key: string, value: Value, bytes: number): void {
    const size = Math.ceil(bytes) + entryBytes
    if (size * largestPart > this.#bytesMax) return
    this.#answers?.set(`${this.#scopeOf(path)} ${key}`, value, { size })
  }

  /**
   * Returns the cached value for a key, or the computed value, which is then cached.
   *
   * @param key id of an immutable object, and everything else that the value depends on
   * @param bytesOf approximate memory of a value; Infinity: the value is not cached
   */
  async getOrCompute<T extends Value>(
    path: string,
    key: string,
    compute: () => Promise<T>,
    bytesOf: (value: T) => number,
  ): Promise<T> {
    const known = this.get<T>(path, key)
    if (known) return known
    const value = await compute()
    this.set(path, key, value, 2 * key.length + bytesOf(value))
    return value
  }

  /** Returns the cached error of a question that git cannot answer. */
  getRefusal(path: string, key: string): Error | undefined {
    return this.#refusals.get(`${this.#scopeOf(path)} ${key}`)
  }

  /**
   * Caches an error.
   *
   * @param holdsMs how long the error stays cached; unset: without limit
   */
  setRefusal(path: string, key: string, refusal: Error, holdsMs?: number): void {
    this.#refusals.set(`${this.#scopeOf(path)} ${key}`, refusal, { ttl: holdsMs ?? 0 })
  }

  /** Returns the number of commits of a query. The key holds the tip that the query starts from. */
  getTotal(path: string, key: string): number | undefined {
    return this.#totals.get(`${this.#scopeOf(path)} ${key}`)
  }

  setTotal(path: string, key: string, total: number): void {
    this.#totals.set(`${this.#scopeOf(path)} ${key}`, total)
  }

  /** Makes the entries of a removed repository unreachable for a later repository at the same path. */
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
