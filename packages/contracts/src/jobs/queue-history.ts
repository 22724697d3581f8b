import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/**
 * Lists of packed samples in Redis, the latest first: every ten seconds for an hour, every minute for a day.
 */
export const queueHistoryKeys = { 10: '{jq}:history:10s', 60: '{jq}:history:1m' } as const

/** Metrics of a queue, or of a whole source, at one moment; null for an unknown metric. */
export interface SeriesMetrics {
  backlog: number | null
  /** Whole seconds. */
  latency: number | null
  /** Number of all attempts, including failed ones. */
  processed: number | null
  failed: number | null
  busy: number | null
}

/** Metrics of every source that answered at one moment, and of its queues, by `seriesKey`. */
export interface HistorySample {
  atMs: number
  metrics: Map<string, SeriesMetrics>
}

/** Returns the key of the series of a queue, or without a queue, of the whole source. */
export const seriesKey = (source: string, queue: string | null) => `${source}\n${queue ?? ''}`

/** Returns the source of a series, and its queue, which is empty for the whole source. */
export function readSeriesKey(key: string): { source: string; queue: string } {
  const end = key.indexOf('\n')
  return { source: key.slice(0, end), queue: key.slice(end + 1) }
}

export const packSample = ({ atMs, metrics }: HistorySample): Promise<Buffer> =>
  deflate(JSON.stringify([atMs, [...metrics]]))

export async function unpackSample(packed: Buffer): Promise<HistorySample> {
  const [atMs, metrics] = JSON.parse(String(await inflate(packed))) as [number, [string, SeriesMetrics][]]
  return { atMs, metrics: new Map(metrics) }
}
