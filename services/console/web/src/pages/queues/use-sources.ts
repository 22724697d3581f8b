import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { JobStats, ProcessMetrics, QueueMetrics } from '../../generated/types.gen'
import { type StreamState, useEventStream } from '../../lib/use-event-stream'

/** Waiting time of the oldest job from which a queue is late. */
export const lateSeconds = 60

export interface SourceFigures {
  name: string
  queues: Record<string, QueueMetrics>
  processes: ProcessMetrics[]
  jobs: JobStats
}

/** A source that does not answer, and the reason. */
interface SilentSource {
  name: string
  message: string
}

type Source = SourceFigures | SilentSource

export interface Sources {
  /** Undefined until the first event. */
  sources: SourceFigures[] | undefined
  silent: SilentSource[]
  stream: StreamState
}

const key = ['jobqueue', 'sources']

/** Reads the metrics of every source, live. A new page shows the last ones until the first event arrives. */
export function useSources(): Sources {
  const client = useQueryClient()
  const [found, setFound] = useState(() => client.getQueryData<Source[]>(key))
  const stream = useEventStream<{ sources: Source[] }>({
    path: '/jobqueue/stream',
    query: { by_source: true, extended: true },
    event: 'metrics',
    onEvents(events) {
      const last = events.at(-1)?.sources
      client.setQueryData(key, last)
      setFound(last)
    },
  })
  return {
    sources: found?.filter((source): source is SourceFigures => 'queues' in source),
    silent: found?.filter((source): source is SilentSource => 'message' in source) ?? [],
    stream,
  }
}
