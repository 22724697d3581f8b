import { closeSync, fdatasync, fsyncSync, openSync, rmSync, write, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A multiple of what is written at a time. */
const fileBytes = 12 * 1024 * 1024

/** How a probe writes. */
export interface Flushes {
  perSecond: number
  bytes: number
}

/** As PostgreSQL flushes its WAL for some 5,000 events a second. */
export const likeTheLoad: Flushes = { perSecond: 300, bytes: 24 * 1024 }
/** So few that they change nothing for what runs beside them. */
export const sparse: Flushes = { perSecond: 50, bytes: 8 * 1024 }

const flush = promisify(fdatasync)
const writeAt = promisify(write)

/** What the disk does to a commit: it writes over a file that is already there, and flushes, as PostgreSQL does. */
export class FlushProbe {
  readonly #path = join(tmpdir(), `switchyard-bench-flushes-${process.pid}`)
  readonly #file = openSync(this.#path, 'w')

  constructor() {
    writeSync(this.#file, Buffer.alloc(fileBytes))
    fsyncSync(this.#file)
  }

  /**
   * Like an event's, a flush's time counts from when it was due, so that those that come during a stop of the disk are
   * late too.
   *
   * @returns milliseconds that 99 of 100 flushes took at most
   */
  async p99Ms(seconds: number, { perSecond, bytes: length }: Flushes): Promise<number> {
    const bytes = Buffer.alloc(length, 's')
    const latencies: number[] = []
    const beginMs = performance.now()
    for (let index = 0; index < perSecond * seconds; index += 1) {
      const dueMs = beginMs + (index * 1000) / perSecond
      const earlyMs = dueMs - performance.now()
      if (earlyMs > 1) await new Promise((resolve) => setTimeout(resolve, earlyMs))
      await writeAt(this.#file, bytes, 0, length, (index * length) % fileBytes)
      await flush(this.#file)
      latencies.push(performance.now() - dueMs)
    }
    latencies.sort((a, b) => a - b)
    return latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN
  }

  close(): void {
    closeSync(this.#file)
    rmSync(this.#path)
  }
}
