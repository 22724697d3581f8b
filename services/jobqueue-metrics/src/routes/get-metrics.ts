import { endpoint, flag, ok, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { PresentMetrics } from '../presenters/metrics.js'
import type { Snapshots } from '../use-cases/read-snapshots.js'

/** The four endpoints show different parts of the same snapshot. Its age is in a header. */
export const getMetrics = (
  snapshots: Snapshots,
  summary: string,
  shape: z.ZodType,
  present: PresentMetrics,
) =>
  endpoint({
    summary,
    replies: { 200: shape },
    headers: { 'X-Snapshot-Age-Ms': 'Milliseconds since the figures were read' },
    input: z.object({
      /** Narrows the answer to one source. */
      source: text().optional(),
      /** Adds fields that GitLab does not have. */
      extended: flag().default(false),
    }),
    async handle({ source, extended }) {
      const snapshot = await snapshots.read(source)
      const ageMs = Math.round(performance.now() - snapshot.takenMs)
      return ok(present(snapshot, extended, Date.now()), { 'X-Snapshot-Age-Ms': String(ageMs) })
    },
  })
