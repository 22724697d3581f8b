import { runningJobs, type SourceSnapshot } from '../sources/sources.js'

/** Figures of a queue, or of a whole source, at one moment; null where a figure is not known. */
export interface Figures {
  backlog: number | null
  /** Whole seconds. */
  latency: number | null
  /** Attempts ever made. */
  processed: number | null
  failed: number | null
  busy: number | null
}

/** Figures of every source that answered at one moment, and of its queues. */
export interface Sample {
  atMs: number
  figures: Map<string, Figures>
}

/** Key of the series of a queue; without a queue, of the whole source. */
export const seriesKey = (source: string, queue: string | null) => `${source}\n${queue ?? ''}`

/** The figures of one source as entries of a sample: the whole source, then each queue. */
export function figuresOf(source: string, snapshot: SourceSnapshot): [string, Figures][] {
  const { queues, jobs } = snapshot
  const whole: Figures = {
    backlog: queues.reduce((sum, { backlog }) => sum + backlog, 0),
    latency: queues.reduce((max, { latencySeconds }) => Math.max(max, latencySeconds), 0),
    processed: jobs.processed,
    failed: jobs.failed,
    busy: runningJobs(snapshot),
  }
  return [
    [seriesKey(source, null), whole],
    ...queues.map(
      ({ name, backlog, latencySeconds: latency, processed, failed, busy }): [string, Figures] => [
        seriesKey(source, name),
        { backlog, latency, processed, failed, busy },
      ],
    ),
  ]
}

/** Figures of several sources as one: the longest latency, and the sums of the other figures. */
export function mergeFigures(all: Figures[]): Figures {
  const known = (part: keyof Figures) => all.map((each) => each[part]).filter((value) => value !== null)
  const sum = (part: keyof Figures) => {
    const values = known(part)
    return values.length < all.length || values.length === 0 ? null : values.reduce((a, b) => a + b)
  }
  const latencies = known('latency')
  return {
    backlog: sum('backlog'),
    latency: latencies.length === 0 ? null : Math.max(...latencies),
    processed: sum('processed'),
    failed: sum('failed'),
    busy: sum('busy'),
  }
}
