import { endpoint, ok, text, time, timeText } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Point, ReadHistory, Resolution } from './history.js'

const figure = z.int().nullable()

const historyShape = z
  .object({
    source: z.string().nullable(),
    queue: z.string().nullable(),
    resolution: z.int().meta({ description: 'Seconds between two points' }),
    points: z.array(
      z.object({
        at: timeText(),
        backlog: figure,
        latency: figure,
        processed: figure,
        failed: figure,
        busy: figure,
      }),
    ),
  })
  .meta({ id: 'JobHistory', description: 'Figures over time; null where nothing is known' })

const presentHistory = (
  { source, queue }: { source?: string; queue?: string },
  { resolutionSeconds, points }: { resolutionSeconds: Resolution; points: Point[] },
): z.output<typeof historyShape> => ({
  source: source ?? null,
  queue: queue ?? null,
  resolution: resolutionSeconds,
  points: points.map(({ atMs, ...figures }) => ({ at: new Date(atMs).toISOString(), ...figures })),
})

/** The figures of the last hour every ten seconds, or of the last day every minute. */
export const getHistory = (readHistory: ReadHistory) =>
  endpoint({
    summary: 'Figures of the last hour or the last day',
    replies: { 200: historyShape },
    input: z.object({
      source: text().optional(),
      queue: text().optional(),
      from: time().optional(),
      to: time().optional(),
      /** Seconds between two points. */
      resolution: z.enum(['10', '60']).optional(),
    }),
    handle: async (question) => ok(presentHistory(question, readHistory(question))),
  })
