import { type Call, type Reply, WrittenJson, writeJson } from '@switchyard/service-kit/http'
import type { ProjectCall } from '../../guards.js'
import type { CachedAnswer } from '../../use-cases/read-commits.js'

/** Memory of the headers of a reply, and of the objects around them. */
const headersBytes = 2_000

/**
 * A reply whose body is written as JSON once and then cached.
 *
 * @param query the parameters as they were read: some of them may come from a body
 */
export const cachedReply = <Result>(
  query: object,
  { project }: ProjectCall,
  call: Call,
  reply: (result: Result) => Reply,
): CachedAnswer<Result, Reply> => ({
  key: `${project.pathWithNamespace} ${call.baseUrl} ${call.raw.request.originalUrl} ${JSON.stringify(query)}`,
  async make(result) {
    const made = reply(result)
    return { ...made, body: await writeJson(made.body) }
  },
  bytesOf: ({ body }) => headersBytes + (body instanceof WrittenJson ? body.bytes : 0),
})
