import { endpoint, streamed } from '@switchyard/service-kit/http'
import { z } from 'zod'

/** The viewer needs inline styles. The page loads from and sends to this server only. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/**
 * A file that is the same for every caller, with an ETag.
 *
 * @param read called once, at the first request
 */
export const sendPublic = (type: string, read: () => Promise<Buffer | string>) => {
  let content: Promise<Buffer | string> | undefined
  return endpoint({
    input: z.object({}),
    async handle(_input, _caller, { raw: { response } }) {
      content ??= read()
      const body = await content
      response.set({
        'Cache-Control': 'public, max-age=0, must-revalidate',
        'Content-Security-Policy': contentSecurityPolicy,
      })
      // `response.type` would add a charset to JSON, whose type some clients compare as a whole.
      response.setHeader('Content-Type', type)
      response.send(Buffer.from(body))
      return streamed
    },
  })
}
