import { unavailable } from '@switchyard/domain'
import { endpoint, flag, noContent, streamed, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { presentCompound } from '../presenters/metrics.js'
import type { Snapshots } from '../snapshot/snapshots.js'
import { type Streams, streamsMax } from '../stream/streams.js'

/** The compound metrics as server-sent events `metrics`: at once, and whenever they have changed. */
export const streamMetrics = (snapshots: Snapshots, streams: Streams) =>
  endpoint({
    summary: 'The compound metrics as server-sent events',
    replies: { 200: ['text/event-stream'] },
    input: z.object({ source: text().optional(), extended: flag().default(false) }),
    async handle({ source, extended }, _access, { raw }) {
      // A source that does not exist or answer is refused like everywhere, as long as that is possible.
      await snapshots.read(source)
      // Express answers HEAD with the handler of GET, and a stream would never end.
      if (raw.request.method === 'HEAD') return noContent()
      if (streams.size >= streamsMax) throw unavailable('too many streams are open')
      const channel = JSON.stringify([source, extended])
      await streams.open(raw.response, channel, async () =>
        presentCompound(await snapshots.read(source), extended, Date.now()),
      )
      return streamed
    },
  })
