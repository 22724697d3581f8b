import { DomainError, tooLarge } from '@switchyard/domain'
import type { LargeBody, ParseLargeBody } from '@switchyard/service-kit/http'
import { KeyedMutex } from '@switchyard/service-kit/keyed-mutex'
import { Piscina } from 'piscina'
import type { Parsed, SentBody } from './parse-commit.worker.js'

/** One for the body of hundreds of megabytes that takes seconds, one for all other senders. */
const threadsMax = 2
/**
 * A body above this is huge. Only one huge body is parsed at a time: parsing 300 MB takes up to four times as much
 * memory. A body below it takes a fraction of a second.
 */
const hugeBytesMin = 16 * 1024 * 1024
/** A thread that had no work for this time ends, which frees its memory. */
const idleMs = 5_000
/** Memory for the strings of the largest body, in which a character takes two bytes if any is beyond Latin 1. */
const heapMegabytesMax = 2_500

/** Tests run from sources. */
const runsFromSource = import.meta.url.endsWith('.ts')

export interface CommitBodies {
  /** @throws DomainError for what `parseBody` of the kit refuses; too-large for more than a thread has memory for */
  parse: ParseLargeBody
  close(): Promise<void>
}

/**
 * Parses large bodies of commits and decodes the contents of their files in separate threads. Each sender has one
 * body parsed at a time, so that a sender of many, or of a huge one, does not keep other senders waiting.
 */
export function createCommitBodies(): CommitBodies {
  const pool = new Piscina<SentBody, Parsed>({
    filename: new URL(`./parse-commit.worker.${runsFromSource ? 'ts' : 'js'}`, import.meta.url).href,
    name: 'parseCommit',
    execArgv: runsFromSource ? ['--import', 'tsx'] : [],
    minThreads: 0,
    maxThreads: threadsMax,
    idleTimeout: idleMs,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
  })
  const [bySender, huge] = [new KeyedMutex(), new KeyedMutex()]

  async function parseInThread(body: LargeBody) {
    const sent = takeMemory(body)
    const parsed = await pool
      .run(sent, { transferList: sent.chunks.map(({ buffer }) => buffer) })
      .catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') throw tooLarge('413 Request Entity Too Large')
        throw error
      })
    if ('fields' in parsed) return parsed.fields
    throw new DomainError(parsed.refusal.kind, parsed.refusal.detail)
  }

  return {
    parse: (body) =>
      bySender.run(body.sender, () => {
        const isHuge = body.bytes >= hugeBytesMin
        return isHuge ? huge.run('bodies of all senders', () => parseInThread(body)) : parseInThread(body)
      }),
    close: () => pool.close({ force: true }),
  }
}

/** The chunks of a body, each with memory that can be transferred to a thread: a chunk that shares its memory is copied. */
function takeMemory({ chunks, contentType }: LargeBody): SentBody {
  const moved = chunks.splice(0).map(({ buffer, byteOffset, byteLength }) => {
    const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
    return isWhole ? new Uint8Array(buffer) : new Uint8Array(buffer, byteOffset, byteLength).slice()
  })
  return { chunks: moved as Uint8Array<ArrayBuffer>[], contentType }
}
