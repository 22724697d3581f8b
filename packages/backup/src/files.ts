import { execFile } from 'node:child_process'
import { createHash, type Hash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, readdir, writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGunzip, createGzip } from 'node:zlib'

/** Lists the names in a folder; none when there is no such folder. */
export const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })

/** Computes the hexadecimal SHA-256 of a file; null when there is no such file. */
export async function hashFile(file: string): Promise<string | null> {
  const hash = createHash('sha256')
  try {
    await pipeline(createReadStream(file), hash)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  return hash.digest('hex')
}

/**
 * Writes a compressed file that only its owner can read, and flushes it.
 *
 * @returns SHA-256 of the file
 */
export async function writeCompressed(
  file: string,
  source: Readable | AsyncIterable<string>,
): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(source, createGzip(), hashedBy(hash), createWriteStream(file, { mode: 0o600, flush: true }))
  return hash.digest('hex')
}

/** Returns a step of a pipeline that passes bytes on and adds them to a hash. */
export const hashedBy = (hash: Hash) =>
  async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      hash.update(chunk)
      yield chunk
    }
  }

export async function* readCompressedLines(file: string): AsyncGenerator<string> {
  const text = createGunzip()
  // The line reader does not report errors of the streams; this promise rejects with them.
  const read = pipeline(createReadStream(file), text)
  read.catch(() => {})
  yield* createInterface({ input: text, crlfDelay: Number.POSITIVE_INFINITY })
  await read
}

/**
 * Flushes all files and folders of a file system to the disk. A system without `sync -f` does so by itself
 * within seconds.
 */
export const syncFileSystem = (folder: string): Promise<unknown> =>
  promisify(execFile)('sync', ['-f', folder]).catch(() => {})

/** Writes a file that only its owner can read, and flushes it. */
export async function writeFlushed(file: string, content: string | Uint8Array): Promise<void> {
  const handle = await open(file, 'w', 0o600)
  try {
    await writeFile(handle, content)
    await handle.sync()
  } finally {
    await handle.close()
  }
}
