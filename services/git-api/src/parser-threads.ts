import { DomainError, tooLarge } from '@switchyard/domain'
import type { LargeBody } from '@switchyard/service-kit/http'
import { KeyedMutex } from '@switchyard/service-kit/keyed-mutex'
import { Piscina } from 'piscina'

export interface SentBody {
  /** The whole body, in order. */
  chunks: Uint8Array<ArrayBuffer>[]
  contentType: string | undefined
}

/** The reason why a body cannot be read. It is data because an error would lose its class between threads. */
export interface Refused {
  refusal: Pick<DomainError, 'kind' | 'detail'>
}

export const refused = (error: unknown): Refused => {
  if (!(error instanceof DomainError)) throw error
  return { refusal: { kind: error.kind, detail: error.detail } }
}

interface Options {
  /** Names the file, without `.worker.ts`, and the function in it. The file is beside the module `from`. */
  worker: { file: string; name: string; from: string }
  threadsMax: number
  heapMegabytesMax: number
}

/** Time after which an idle thread ends, which frees its memory. */
const idleMs = 5_000

/** Tests run the TypeScript sources. */
const runsFromSource = import.meta.url.endsWith('.ts')

export type ParserThreads<Parsed> = ReturnType<typeof createParserThreads<Parsed>>

/**
 * Parses bodies in separate threads, one body of a sender at a time, so that a sender with many bodies does
 * not delay others.
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
     * @param within wraps the work, for example to limit how many senders work at once
     * @throws DomainError with which the worker refuses the body; too-large for a body that needs more memory
     *   than a thread has
     */
    parse: (body: LargeBody, within = (work: () => Promise<Parsed>) => work()): Promise<Parsed> =>
      bySender.run(body.sender, () => within(() => parseInThread(body))),
    close: () => pool.close({ force: true }),
  }
}

/**
 * Returns the chunks of a body in memory that can be transferred to a thread. A chunk that shares its memory
 * is copied.
 */
function takeMemory({ chunks, contentType }: LargeBody): SentBody {
  const moved = chunks.splice(0).map(({ buffer, byteOffset, byteLength }) => {
    const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
    return isWhole ? new Uint8Array(buffer) : new Uint8Array(buffer, byteOffset, byteLength).slice()
  })
  return { chunks: moved as Uint8Array<ArrayBuffer>[], contentType }
}
