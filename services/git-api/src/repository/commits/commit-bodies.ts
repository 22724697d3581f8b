import type { ParseLargeBody } from '@switchyard/service-kit/http'
import { KeyedMutex } from '@switchyard/service-kit/keyed-mutex'
import { createParserThreads } from '../../parser-threads.js'

/** One thread for a body of hundreds of megabytes, which takes seconds, and one for all other senders. */
const threadsMax = 2
/**
 * Size from which a body is huge. Only one huge body is parsed at a time, because parsing 300 MB takes up to
 * four times as much memory. A smaller body takes a fraction of a second.
 */
const hugeBytesMin = 16 * 1024 * 1024
/** Memory for the strings of the largest body. Each character takes two bytes if any is outside Latin 1. */
const heapMegabytesMax = 2_500

export interface CommitBodies {
  /**
   * @throws DomainError for bodies that `parseBody` of the kit refuses; too-large for a body that needs more
   *   memory than a thread has
   */
  parse: ParseLargeBody
  close(): Promise<void>
}

/**
 * Parses large bodies of commits and decodes the contents of their files in separate threads, one body of a
 * sender at a time, so that a sender of many or huge bodies does not delay others.
 */
export function createCommitBodies(): CommitBodies {
  const threads = createParserThreads<Record<string, unknown>>({
    worker: { file: 'parse-commit', name: 'parseCommit', from: import.meta.url },
    threadsMax,
    heapMegabytesMax,
  })
  const huge = new KeyedMutex()
  return {
    parse: (body) =>
      threads.parse(body, (work) =>
        body.bytes >= hugeBytesMin ? huge.run('bodies of all senders', work) : work(),
      ),
    close: threads.close,
  }
}
