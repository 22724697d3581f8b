import { endpoint, streamed } from '@switchyard/service-kit/http'
import { z } from 'zod'

/** The viewer styles what it makes; nothing is fetched from elsewhere, and nothing is sent there. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/**
 * Something that is the same for everybody, with an ETag.
 *
 * @param read called once, when somebody asks first
 */
export const sendPublic = (type: string, read: () => Promise<Buffer | string>) => {
  let content: Promise<Buffer | string> | undefined
  return endpoint({
    input: z.object({}),
    async handle(_input, _caller, { raw: { request, response } }) {
      content ??= read()
      const body = await content
      // As for every other answer: what a client says to caches on the way must not keep it from a 304.
      delete request.headers['cache-control']
      response.set({
        'Cache-Control': 'public, max-age=0, must-revalidate',
        'Content-Security-Policy': contentSecurityPolicy,
        'X-Content-Type-Options': 'nosniff',
      })
      // `response.type` would add a charset to JSON, whose type some clients compare as a whole.
      response.setHeader('Content-Type', type)
      response.send(Buffer.from(body))
      return streamed
    },
  })
}
