import { LRUCache } from 'lru-cache'
import type { OnFallback } from './fallbacks.js'
import { LocalReader } from './local-reader.js'

/** Bounds for the open packs and cached indexes of all repositories together. */
const repositoriesMax = 128
const memoryBytesMax = 512 * 1024 * 1024

/** The readers of the repositories in use. */
export class LocalReaders {
  readonly #readers = new LRUCache<string, LocalReader>({
    max: repositoriesMax,
    dispose: (reader) => void reader.close(),
  })
  readonly #onFallback: OnFallback

  constructor(onFallback: OnFallback) {
    this.#onFallback = onFallback
  }

  /** @param path of the bare repository */
  open(path: string): LocalReader {
    const known = this.#readers.get(path)
    if (known) return known
    this.#makeRoom()
    const reader = new LocalReader(path, this.#onFallback)
    this.#readers.set(path, reader)
    return reader
  }

  closeRepository(path: string): void {
    this.#readers.delete(path)
  }

  close(): void {
    this.#readers.clear()
  }

  #makeRoom(): void {
    let bytes = 0
    for (const reader of this.#readers.values()) bytes += reader.memoryBytes
    while (bytes > memoryBytesMax && this.#readers.size > 0) bytes -= this.#readers.pop()?.memoryBytes ?? 0
  }
}
