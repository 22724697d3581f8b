import { closeSync, fdatasync, fsyncSync, openSync, rmSync, write, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const fileBytes = 64 * 1024 * 1024
const flushBytes = 8 * 1024
const perSecond = 50

/**
 * What the disk does to a commit: 50 times a second 8 KB are written over a file that is already there, and flushed. Like
 * an event's, a flush's time counts from when it was due, so that those that come during a stop of the disk are late too.
 *
 * @returns milliseconds that 99 of 100 flushes took at most
 */
export async function p99OfFlushes(seconds: number): Promise<number> {
  const path = join(tmpdir(), `switchyard-bench-flushes-${process.pid}`)
  const file = openSync(path, 'w')
  const flush = promisify(fdatasync)
  const writeAt = promisify(write)
  try {
    fillWithZeros(file)
    const bytes = Buffer.alloc(flushBytes, 's')
    const latencies: number[] = []
    const beginMs = performance.now()
    for (let index = 0; index < perSecond * seconds; index += 1) {
      const dueMs = beginMs + (index * 1000) / perSecond
      const earlyMs = dueMs - performance.now()
      if (earlyMs > 1) await new Promise((resolve) => setTimeout(resolve, earlyMs))
      await writeAt(file, bytes, 0, flushBytes, (index * flushBytes) % fileBytes)
      await flush(file)
      latencies.push(performance.now() - dueMs)
    }
    latencies.sort((a, b) => a - b)
    return latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN
  } finally {
    closeSync(file)
    rmSync(path)
  }
}

function fillWithZeros(file: number): void {
  const zeros = Buffer.alloc(1024 * 1024)
  for (let bytes = 0; bytes < fileBytes; bytes += zeros.length) writeSync(file, zeros)
  fsyncSync(file)
}
