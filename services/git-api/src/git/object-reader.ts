import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { unavailable } from '@switchyard/domain'
import { argumentsOf, spawnGit, stopGit } from './git-process.js'

export interface StoredObject {
  id: string
  type: string
  content: Buffer
}

interface Pending {
  resolve: (object: StoredObject | null) => void
  reject: (error: unknown) => void
}

const header = /^([0-9a-f]{40}) (\w+) (\d+)$/

/** Reads objects through one `git cat-file --batch`; answers come in the order of the questions. */
export class ObjectReader {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #pending: Pending[] = []
  #chunks: Buffer[] = []
  #length = 0
  /** Bytes that must be here before looking again is worth while. */
  #needed = 1

  constructor(path: string) {
    this.#child = spawnGit(argumentsOf(path, { command: 'cat-file', flags: ['--batch'] }))
    this.#child.stdout.on('data', (chunk: Buffer) => this.#receive(chunk))
    this.#child.stderr.resume()
    this.#child.once('error', (error) => this.#fail(error))
    this.#child.once('close', () => this.#fail(new Error('git cat-file ended')))
  }

  /** @param name an object id, or a checked revision with its type, such as `main^{commit}` */
  read(name: string): Promise<StoredObject | null> {
    return new Promise((resolve, reject) => {
      if (this.#child.exitCode !== null) return reject(unavailable('git'))
      this.#pending.push({ resolve, reject })
      this.#child.stdin.write(`${name}\n`)
    })
  }

  close(): void {
    this.#child.stdin.end()
    stopGit(this.#child)
  }

  #fail(cause: Error): void {
    for (const { reject } of this.#pending.splice(0)) reject(unavailable('git', { cause }))
  }

  #receive(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#length += chunk.length
    while (this.#pending.length > 0 && this.#length >= this.#needed && this.#take()) {}
  }

  /** Hands out the first complete answer; false when there is none yet. */
  #take(): boolean {
    const received =
      this.#chunks.length === 1 && this.#chunks[0] ? this.#chunks[0] : Buffer.concat(this.#chunks)
    this.#chunks = [received]
    const lineEnd = received.indexOf(10)
    if (lineEnd < 0) {
      this.#needed = received.length + 1
      return false
    }
    const found = header.exec(received.toString('latin1', 0, lineEnd))
    const contentEnd = lineEnd + 1 + Number(found?.[3] ?? 0)
    const end = found ? contentEnd + 1 : lineEnd + 1
    if (received.length < end) {
      this.#needed = end
      return false
    }
    const object = found && {
      id: found[1] ?? '',
      type: found[2] ?? '',
      content: received.subarray(lineEnd + 1, contentEnd),
    }
    this.#chunks = [received.subarray(end)]
    this.#length -= end
    this.#needed = 1
    this.#pending.shift()?.resolve(object)
    return this.#length > 0
  }
}

/** Gives `work` a reader that ends with it, or when the signal is aborted. */
export async function withObjectReader<T>(
  path: string,
  signal: AbortSignal | undefined,
  work: (reader: ObjectReader) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  const reader = new ObjectReader(path)
  const stop = () => reader.close()
  signal?.addEventListener('abort', stop)
  try {
    return await work(reader)
  } finally {
    signal?.removeEventListener('abort', stop)
    reader.close()
  }
}
