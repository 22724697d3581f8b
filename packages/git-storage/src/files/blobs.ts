import { createHash } from 'node:crypto'
import { Writable } from 'node:stream'
import { findObject, readObject } from '../objects/object-reader.js'
import { runGitOk } from '../processes/git-process.js'
import { streamOutput } from '../processes/stream-output.js'
import type { Repository } from '../repository.js'

/** Largest file that is read without a separate process. */
const inMemoryBytesMax = 1024 * 1024

/** A stored file, with its size in bytes. */
export interface StoredBlob {
  id: string
  size: number
}

/** First and last byte of a part, counted from 0. */
export interface ByteRange {
  start: number
  end: number
}

/**
 * Finds the blob with an id; null when there is none.
 *
 * @param id a full hash
 */
export async function findBlob(repository: Repository, id: string): Promise<StoredBlob | null> {
  const found = await findObject(repository, id)
  return found?.type === 'blob' ? { id, size: found.size } : null
}

/**
 * Writes the bytes of a file, or a part of them, to a stream, in bounded memory. The caller ends the stream.
 *
 * @param blob its id, and its size in bytes
 * @throws Error when git ends early; the reason of the signal when it is aborted
 */
export async function writeBlob(
  repository: Repository,
  { id, size }: StoredBlob,
  output: Writable,
  range: ByteRange = { start: 0, end: size - 1 },
): Promise<void> {
  if (size <= inMemoryBytesMax) {
    output.write((await readBlob(repository, { id, size })).subarray(range.start, range.end + 1))
    return
  }
  const command = { command: 'cat-file', flags: ['blob'], revisions: [id] }
  await streamOutput(repository, command, output, { transform: cut(range) })
}

/** Returns a transform that passes on only the bytes of a range. */
const cut = ({ start, end }: ByteRange) =>
  async function* (source: AsyncIterable<Buffer>) {
    let at = 0
    for await (const chunk of source) {
      const part = chunk.subarray(Math.max(0, start - at), Math.max(0, end + 1 - at))
      at += chunk.length
      if (part.length > 0) yield part
    }
  }

/** Computes the SHA-256 of a file's bytes, in hexadecimal digits. */
export async function hashBlob(repository: Repository, blob: StoredBlob): Promise<string> {
  const hash = createHash('sha256')
  const sink = new Writable({
    write(chunk, _encoding, done) {
      hash.update(chunk)
      done()
    },
  })
  await writeBlob(repository, blob, sink)
  await new Promise<void>((resolve) => sink.end(resolve))
  return hash.digest('hex')
}

/**
 * The small file that a request read last, because a request may need its hash, its start and its bytes one
 * after the other.
 */
const lastRead = new WeakMap<Repository, { id: string; content: Buffer }>()

/**
 * Reads the bytes of a file into memory.
 *
 * @throws DomainError too-large for more than 64 MB
 */
export async function readBlob(repository: Repository, { id, size }: StoredBlob): Promise<Buffer> {
  const known = lastRead.get(repository)
  if (known?.id === id) return known.content
  const content = (await readObject(repository, id))?.content
  if (!content) throw new Error(`blob ${id} is missing`)
  if (size <= inMemoryBytesMax) lastRead.set(repository, { id, content })
  return content
}

/** Reads the first bytes of a file. */
export async function readStart(
  repository: Repository,
  { id, size }: StoredBlob,
  bytesMax: number,
): Promise<Buffer> {
  if (size <= inMemoryBytesMax) {
    return (await readBlob(repository, { id, size })).subarray(0, bytesMax)
  }
  const command = { command: 'cat-file', flags: ['blob'], revisions: [id] }
  return (await runGitOk(repository, command, { stdoutBytesMax: bytesMax })).stdout
}
