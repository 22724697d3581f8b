import { endpoint, ok, text, time, timeText } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { dayMs, type History, hourMs, type Point, type Resolution } from '../history/history.js'

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

/** What was, every ten seconds for the last hour or every minute for the last day. */
export const getHistory = (history: History) =>
  endpoint({
    summary: 'What was, in the last hour or the last day',
    replies: { 200: historyShape },
    input: z.object({
      source: text().optional(),
      queue: text().optional(),
      from: time().optional(),
      to: time().optional(),
      /** Seconds between two points. */
      resolution: z.enum(['10', '60']).optional(),
    }),
    async handle({ source, queue, from, to, resolution }) {
      const nowMs = Date.now()
      const toMs = to?.getTime() ?? nowMs
      const resolutionSeconds = resolutionOf(resolution, from, nowMs)
      const fromMs = from?.getTime() ?? nowMs - (resolutionSeconds === 10 ? hourMs : dayMs)
      const points = history.points({ source, queue, fromMs, toMs, resolutionSeconds })
      return ok({
        source: source ?? null,
        queue: queue ?? null,
        resolution: resolutionSeconds,
        points: points.map(presentPoint),
      })
    },
  })

/** Unless it is said, the finest that reaches back far enough. */
function resolutionOf(given: string | undefined, from: Date | undefined, nowMs: number): Resolution {
  if (given !== undefined) return given === '10' ? 10 : 60
  return from !== undefined && from.getTime() >= nowMs - hourMs ? 10 : 60
}

const presentPoint = ({ atMs, ...figures }: Point) => ({ at: new Date(atMs).toISOString(), ...figures })
