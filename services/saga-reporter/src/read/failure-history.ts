import type { Clock } from '@switchyard/domain'
import { countFailures, type FailureCount, type Readable } from '@switchyard/saga-store'
import { endpoint, integer, ok, parameterProblem, time } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { tenantParameter } from '../shapes/parameters.js'

const dayMs = 24 * 60 * 60 * 1000
const bucketSecondsDefault = 900
const bucketsMax = 300
/** Causes that are told apart. */
const causesMax = 5

export const failureHistory = (database: Readable, clock: Clock) =>
  endpoint({
    summary: 'How many activities failed in each part of a time, by cause',
    replies: { 200: failureHistoryShape },
    input: z.object({
      ...tenantParameter,
      failed_after: time().optional().meta({ description: 'Else a day before `failed_before`' }),
      failed_before: time().optional().meta({ description: 'Else now' }),
      bucket_seconds: integer()
        .pipe(z.int().min(10).max(86_400))
        .default(bucketSecondsDefault)
        .meta({ description: `Length of a part; a time has at most ${bucketsMax} of them` }),
    }),
    handle: async ({ tenant, failed_after, failed_before, bucket_seconds: bucketSeconds }) => {
      const to = failed_before ?? clock()
      const after = failed_after ?? new Date(to.getTime() - dayMs)
      if (after > to) throw parameterProblem('failed_after', 'is after failed_before')
      const bucketMs = bucketSeconds * 1000
      // The same buckets come whenever somebody asks, so that a picture of them does not change as time goes on.
      const from = new Date(Math.floor(after.getTime() / bucketMs) * bucketMs)
      const buckets = Math.floor((to.getTime() - from.getTime()) / bucketMs) + 1
      if (buckets > bucketsMax) throw parameterProblem('bucket_seconds', 'is too short for this time')
      const counts = await countFailures(database, { tenant, from, to, bucketSeconds, causesMax })
      return ok({ from, to, bucket_seconds: bucketSeconds, ...presentCounts(counts, buckets) })
    },
  })

const counts = z.array(z.int()).meta({ description: 'Of each bucket, the first one first' })

const failureHistoryShape = z
  .object({
    from: z.date().meta({ description: 'The beginning of the first bucket' }),
    to: z.date(),
    bucket_seconds: z.int(),
    causes: z
      .array(z.object({ fingerprint: z.string(), sample: z.string(), count: z.int(), counts }))
      .meta({ description: `The ${causesMax} most frequent ones, the most frequent one first` }),
    other: z.object({ count: z.int(), counts }).meta({ description: 'All other causes together' }),
  })
  .meta({ id: 'FailureHistory', description: 'When activities of sagas failed, by cause' })

function presentCounts(rows: readonly FailureCount[], buckets: number) {
  const countsOf = (cause: string | null) => {
    const counts = Array.from({ length: buckets }, () => 0)
    for (const { fingerprint, bucket, count } of rows) if (fingerprint === cause) counts[bucket] = count
    return { count: counts.reduce((sum, count) => sum + count, 0), counts }
  }
  const samples = new Map(rows.map(({ fingerprint, sample }) => [fingerprint, sample ?? '']))
  const causes = [...samples].flatMap(([fingerprint, sample]) =>
    fingerprint === null ? [] : [{ fingerprint, sample, ...countsOf(fingerprint) }],
  )
  return { causes: causes.sort((a, b) => b.count - a.count), other: countsOf(null) }
}
