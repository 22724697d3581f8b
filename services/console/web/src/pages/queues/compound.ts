import { get } from '../../api/client'
import type { JobStats, ProcessMetrics, QueueMetrics } from '../../generated/types.gen'

const refetchMs = 3000
/** A queue whose oldest job waits longer is late. */
export const lateSeconds = 60

interface Compound {
  queues: Record<string, QueueMetrics>
  processes: ProcessMetrics[]
  jobs: JobStats
}

export const compoundQuery = (source: string) => ({
  queryKey: ['jobqueue', 'compound', source],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    get<Compound>('/jobqueue/compound_metrics', { source, extended: true }, signal),
  refetchInterval: refetchMs,
})

export const sourcesQuery = {
  queryKey: ['jobqueue', 'sources'],
  queryFn: ({ signal }: { signal: AbortSignal }) => get<{ name: string }[]>('/jobqueue/sources', {}, signal),
  staleTime: 60_000,
}
