import { DomainError, tooLarge } from '@switchyard/domain'
import type { LargeBody } from '@switchyard/service-kit/http'
import { KeyedMutex } from '@switchyard/service-kit/keyed-mutex'
import { Piscina } from 'piscina'

export interface SentBody {
  /** Of the whole body, in order. */
  chunks: Uint8Array<ArrayBuffer>[]
  contentType: string | undefined
}

/** Why a body cannot be read: an error would lose its class between threads. */
export interface Refused {
  refusal: Pick<DomainError, 'kind' | 'detail'>
}

export const refused = (error: unknown): Refused => {
  if (!(error instanceof DomainError)) throw error
  return { refusal: { kind: error.kind, detail: error.detail } }
}

interface Options {
  /** The name of the file, without `.worker.ts`, and of the function in it, beside the module `from`. */
  worker: { file: string; name: string; from: string }
  threadsMax: number
  heapMegabytesMax: number
}

/** A thread that had no work for this time ends, which frees its memory. */
const idleMs = 5_000

/** Tests run from sources. */
const runsFromSource = import.meta.url.endsWith('.ts')

export type ParserThreads<Parsed> = ReturnType<typeof createParserThreads<Parsed>>

/**
 * Parses bodies in threads of their own, for each sender one at a time: one of many bodies does not keep
 * other senders waiting.
 */
export function createParserThreads<Parsed>({ worker, threadsMax, heapMegabytesMax }: Options) {
  const pool = new Piscina<SentBody, { parsed: Parsed } | Refused>({
    filename: new URL(`./${worker.file}.worker.${runsFromSource ? 'ts' : 'js'}`, worker.from).href,
    name: worker.name,
    execArgv: runsFromSource ? ['--import', 'tsx'] : [],
    minThreads: 0,
    maxThreads: threadsMax,
    idleTimeout: idleMs,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
  })
  const bySender = new KeyedMutex()

  async function parseInThread(body: LargeBody): Promise<Parsed> {
    const sent = takeMemory(body)
    const answer = await pool
      .run(sent, { transferList: sent.chunks.map(({ buffer }) => buffer) })
      .catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') throw tooLarge('413 Request Entity Too Large')
        throw error
      })
    if ('parsed' in answer) return answer.parsed
    throw new DomainError(answer.refusal.kind, answer.refusal.detail)
  }

  return {
    /**
     * @param within runs the work, such as one after the other with some of other senders
     * @throws DomainError that the worker refuses the body with; too-large for more than a thread has memory
     *   for
     */
    parse: (body: LargeBody, within = (work: () => Promise<Parsed>) => work()): Promise<Parsed> =>
      bySender.run(body.sender, () => within(() => parseInThread(body))),
    close: () => pool.close({ force: true }),
  }
}

/**
 * The chunks of a body, each with memory that can be transferred to a thread: a chunk that shares its memory
 * is copied.
 */
function takeMemory({ chunks, contentType }: LargeBody): SentBody {
  const moved = chunks.splice(0).map(({ buffer, byteOffset, byteLength }) => {
    const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
    return isWhole ? new Uint8Array(buffer) : new Uint8Array(buffer, byteOffset, byteLength).slice()
  })
  return { chunks: moved as Uint8Array<ArrayBuffer>[], contentType }
}
