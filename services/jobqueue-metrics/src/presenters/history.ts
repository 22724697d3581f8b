import { timeText } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Point, Resolution } from '../history/history.js'

const figure = z.int().nullable()

export const historyShape = z
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

export const presentHistory = (
  { source, queue }: { source?: string; queue?: string },
  { resolutionSeconds, points }: { resolutionSeconds: Resolution; points: Point[] },
): z.output<typeof historyShape> => ({
  source: source ?? null,
  queue: queue ?? null,
  resolution: resolutionSeconds,
  points: points.map(({ atMs, ...figures }) => ({ at: new Date(atMs).toISOString(), ...figures })),
})
