import { endpoint, flag, noContent, type StreamPlaces, streamed, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { presentCompound } from '../presenters/metrics.js'
import type { Snapshots } from '../use-cases/read-snapshots.js'
import type { EventStreams } from './event-streams.js'

/** The compound metrics as server-sent events `metrics`: at once, and whenever they have changed. */
export const streamMetrics = (snapshots: Snapshots, streams: EventStreams, places: StreamPlaces) =>
  endpoint({
    summary: 'The compound metrics as server-sent events',
    replies: { 200: ['text/event-stream'] },
    input: z.object({ source: text().optional(), extended: flag().default(false) }),
    async handle({ source, extended }, _access, call) {
      const { raw } = call
      // A status can only tell of an unknown source, or of one that does not answer, before the stream begins.
      await snapshots.read(source)
      // Express answers HEAD with the handler of GET, and a stream would never end.
      if (raw.request.method === 'HEAD') return noContent()
      places.take(call)
      const channel = JSON.stringify([source, extended])
      await streams.open(raw.response, channel, async () =>
        presentCompound(await snapshots.read(source), extended, Date.now()),
      )
      return streamed
    },
  })
