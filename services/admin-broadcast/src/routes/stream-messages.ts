import { answerHead, endpoint, streamed, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import { publicHeaders } from './public-headers.js'

/** The active messages and their changes as server-sent events. */
export const streamMessages = ({ streams, streamSlots }: Pick<Dependencies, 'streams' | 'streamSlots'>) =>
  endpoint({
    summary: 'Messages that are on and what becomes of them, as server-sent events',
    replies: { 200: ['text/event-stream'] },
    input: z.object({ path: text().optional() }),
    async handle({ path }, _caller, call) {
      const { response } = call.raw
      response.set(publicHeaders)
      if (answerHead(call)) return streamed
      try {
        streamSlots.take(call)
        await streams.open(response, path)
      } catch (error) {
        response.set('Retry-After', '30')
        throw error
      }
      return streamed
    },
  })
