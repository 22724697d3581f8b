import type { ParseLargeBody } from '@switchyard/service-kit/http'
import { KeyedMutex } from '@switchyard/service-kit/keyed-mutex'
import { createParserThreads } from '../../parser-threads.js'

/** One for the body of hundreds of megabytes that takes seconds, one for all other senders. */
const threadsMax = 2
/**
 * A body above this is huge. Only one huge body is parsed at a time: parsing 300 MB takes up to four times as
 * much memory. A body below it takes a fraction of a second.
 */
const hugeBytesMin = 16 * 1024 * 1024
/**
 * Memory for the strings of the largest body, in which a character takes two bytes if any is beyond Latin 1.
 */
const heapMegabytesMax = 2_500

export interface CommitBodies {
  /**
   * @throws DomainError for what `parseBody` of the kit refuses; too-large for more than a thread has memory
   *   for
   */
  parse: ParseLargeBody
  close(): Promise<void>
}

/**
 * Parses large bodies of commits and decodes the contents of their files in separate threads. Each sender has
 * one body parsed at a time, so that a sender of many, or of a huge one, does not keep other senders waiting.
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
