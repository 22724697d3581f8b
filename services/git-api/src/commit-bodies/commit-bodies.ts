import { DomainError, tooLarge } from '@switchyard/domain'
import type { ParseBody } from '@switchyard/service-kit/parse-body'
import { Piscina } from 'piscina'
import type { Parsed, SentBody } from './parse-commit.worker.js'

/** Bodies that are parsed at the same time. A body of 300 MB takes up to four times its size while it is parsed. */
const threadsMax = 1
/** A thread without work ends after this time and frees its memory. */
const idleMs = 5_000
/** Memory for the strings of the largest body, in which a character takes two bytes if any is beyond Latin 1. */
const heapMegabytesMax = 2_500

/** Tests run from sources. */
const runsFromSource = import.meta.url.endsWith('.ts')

export interface CommitBodies {
  /** @throws DomainError like `parseBody` of the kit; too-large when a thread runs out of memory */
  parse: ParseBody
  close(): Promise<void>
}

/** Parses large bodies of commits and decodes the contents of files in worker threads. */
export function createCommitBodies(): CommitBodies {
  const pool = new Piscina<SentBody, Parsed>({
    filename: new URL(`./parse-commit.worker.${runsFromSource ? 'ts' : 'js'}`, import.meta.url).href,
    name: 'parseCommit',
    execArgv: runsFromSource ? ['--import', 'tsx', '--conditions=@switchyard/source'] : [],
    minThreads: 0,
    maxThreads: threadsMax,
    idleTimeout: idleMs,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
  })
  return {
    async parse(bytes, contentType) {
      const parsed = await pool
        .run({ bytes, contentType }, { transferList: [bytes.buffer] })
        .catch((error: NodeJS.ErrnoException) => {
          if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') throw tooLarge('413 Request Entity Too Large')
          throw error
        })
      if ('fields' in parsed) return parsed.fields
      throw new DomainError(parsed.refusal.kind, parsed.refusal.detail)
    },
    close: () => pool.close({ force: true }),
  }
}
