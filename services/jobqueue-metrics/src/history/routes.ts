import {
  administratorOrScope,
  endpoint,
  ok,
  type Route,
  route,
  text,
  time,
  timeText,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Point, ReadHistory, Resolution } from './history.js'

export const historyRoutes = (base: string, readHistory: ReadHistory): Route[] => [
  route('GET', `${base}/history`, administratorOrScope('read_metrics'), getHistory(readHistory)),
]

const metric = z.int().nullable()

const historyShape = z
  .object({
    source: z.string().nullable(),
    queue: z.string().nullable(),
    resolution: z.int().meta({ description: 'Seconds between two points' }),
    points: z.array(
      z.object({
        at: timeText(),
        backlog: metric,
        latency: metric,
        processed: metric,
        failed: metric,
        busy: metric,
      }),
    ),
  })
  .meta({ id: 'JobHistory', description: 'Metrics over time; null: unknown' })

const presentHistory = (
  { source, queue }: { source?: string; queue?: string },
  { resolutionSeconds, points }: { resolutionSeconds: Resolution; points: Point[] },
): z.output<typeof historyShape> => ({
  source: source ?? null,
  queue: queue ?? null,
  resolution: resolutionSeconds,
  points: points.map(({ atMs, ...metrics }) => ({ at: new Date(atMs).toISOString(), ...metrics })),
})

/** Returns the metrics of the last hour every ten seconds, or of the last day every minute. */
const getHistory = (readHistory: ReadHistory) =>
  endpoint({
    summary: 'Get the metrics of the last hour or the last day',
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
