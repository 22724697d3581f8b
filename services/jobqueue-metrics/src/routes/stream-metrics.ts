import {
  answerHead,
  endpoint,
  flag,
  parameterProblem,
  type StreamSlots,
  streamed,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import { presentCompound, presentSources } from '../presenters/metrics.js'
import type { Snapshots } from '../use-cases/read-snapshots.js'
import type { StateStreams } from './state-streams.js'

/** The compound metrics as server-sent events `metrics`: at once, and whenever they have changed. */
export const streamMetrics = (snapshots: Snapshots, streams: StateStreams, streamSlots: StreamSlots) =>
  endpoint({
    summary: 'The compound metrics as server-sent events',
    replies: { 200: ['text/event-stream'] },
    input: z.object({
      source: text().optional(),
      by_source: flag().default(false).meta({ description: 'Every source by itself, below `sources`' }),
      extended: flag().default(false),
    }),
    async handle({ source, by_source, extended }, _access, call) {
      if (by_source && source !== undefined)
        throw parameterProblem('by_source', 'cannot be combined with source')
      // Once the stream has begun, no status can report that the source is unknown or does not answer.
      if (!by_source) await snapshots.read(source)
      if (answerHead(call)) return streamed
      streamSlots.take(call)
      const channel = JSON.stringify([source, by_source, extended])
      await streams.open(call.raw.response, channel, async () =>
        by_source
          ? presentSources(await snapshots.readEach(), extended, Date.now())
          : presentCompound(await snapshots.read(source), extended, Date.now()),
      )
      return streamed
    },
  })
