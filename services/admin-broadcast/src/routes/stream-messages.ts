import { endpoint, noContent, streamed, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import { publicHeaders } from './public-headers.js'

/** The active messages and their changes as server-sent events. */
export const streamMessages = ({ streams, places }: Pick<Dependencies, 'streams' | 'places'>) =>
  endpoint({
    summary: 'Messages that are on and what becomes of them, as server-sent events',
    replies: { 200: ['text/event-stream'] },
    input: z.object({ path: text().optional() }),
    async handle({ path }, _caller, call) {
      const { raw } = call
      // Express answers HEAD with the handler of GET, and a stream would never end.
      if (raw.request.method === 'HEAD') return noContent()
      raw.response.set(publicHeaders)
      try {
        places.take(call)
        await streams.open(raw.response, path)
      } catch (error) {
        raw.response.set('Retry-After', '30')
        throw error
      }
      return streamed
    },
  })
