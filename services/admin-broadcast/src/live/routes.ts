import { readFile } from 'node:fs/promises'
import { bannerScriptFile } from '@switchyard/banner'
import type { Clock } from '@switchyard/domain'
import {
  answered,
  answerHead,
  anyone,
  endpoint,
  ok,
  type Route,
  route,
  type StreamSlots,
  text,
} from '@switchyard/service-kit/http'
import { remembered } from '@switchyard/service-kit/remembered'
import { z } from 'zod'
import { bannerShape, presentBanner } from '../shapes/broadcast-message.js'
import type { MessageStreams } from './live.js'
import * as live from './live.js'
import type { MessageBoard } from './message-board.js'

export interface LiveDependencies {
  /** The board of active messages. */
  board: MessageBoard
  clock: Clock
  streams: MessageStreams
  streamSlots: StreamSlots
}

/** Endpoints for the active messages, open to everybody. */
export const liveRoutes = (deps: LiveDependencies): Route[] => [
  route('GET', '/broadcast_messages/active', anyone, getActiveMessages(deps), {
    refusesUnknown: true,
  }),
  route('GET', '/broadcast_messages/stream', anyone, streamMessages(deps), { refusesUnknown: true }),
  route('GET', '/broadcast_messages/banner.js', anyone, getBannerScript()),
]

/** Headers that allow every site to fetch public answers. */
const publicHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Date, ETag, Retry-After, X-Request-Id',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  Vary: 'Accept-Encoding',
}

const getActiveMessages = (deps: Pick<LiveDependencies, 'board' | 'clock'>) =>
  endpoint({
    summary: 'List the active broadcast messages',
    replies: { 200: z.array(bannerShape) },
    input: z.object({ path: text().optional() }),
    async handle({ path }) {
      const { messages, keptMs } = await live.listActiveMessages(deps, path)
      const cacheControl = `public, max-age=${keptMs / 1000}`
      return ok(messages.map(presentBanner), { ...publicHeaders, 'Cache-Control': cacheControl })
    },
  })

/** Streams the active messages and their changes as server-sent events. */
const streamMessages = ({ streams, streamSlots }: Pick<LiveDependencies, 'streams' | 'streamSlots'>) =>
  endpoint({
    summary: 'Stream the active broadcast messages and their changes as server-sent events',
    replies: { 200: ['text/event-stream'] },
    input: z.object({ path: text().optional() }),
    async handle({ path }, _caller, call) {
      const { response } = call.raw
      response.set(publicHeaders)
      if (answerHead(call)) return answered
      try {
        streamSlots.take(call)
        await streams.open(response, path)
      } catch (error) {
        response.set('Retry-After', '30')
        throw error
      }
      return answered
    },
  })

/** Caches keep the script for five minutes and then revalidate it by its ETag. */
const cacheControl = 'public, max-age=300, stale-while-revalidate=86400'

/** Serves the web component that shows messages on any site, as one script. */
const getBannerScript = () => {
  const script = remembered(() => readFile(bannerScriptFile))
  return endpoint({
    summary: 'Download the web component that shows broadcast messages on any site',
    replies: { 200: ['text/javascript'] },
    input: z.object({}),
    async handle(_input, _caller, { raw: { response } }) {
      const body = await script()
      response.set({ ...publicHeaders, 'Cache-Control': cacheControl })
      response.type('text/javascript').send(body)
      return answered
    },
  })
}
