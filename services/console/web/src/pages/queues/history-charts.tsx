import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { Chart } from '../../components/chart'
import { Panel } from '../../components/page'
import { Empty, Shown } from '../../components/states'
import type { JobHistory } from '../../generated/types.gen'
import { count, duration } from '../../lib/format'
import { historyQuery, perMinute, type Range } from './history'

/** Backlog, latency, throughput and failures over time, of one queue or of all. */
export function HistoryCharts({ range, source, queue }: { range: Range; source?: string; queue?: string }) {
  const history = useQuery(historyQuery(range, source, queue))
  return (
    <Panel name={range === 'hour' ? 'The last hour' : 'The last day'}>
      <Shown query={history}>{(found) => <Charts history={found} />}</Shown>
    </Panel>
  )
}

const seconds = (value: number) => duration(value * 1000)
const rate = (value: number) => (value < 10 ? value.toFixed(1) : count(Math.round(value)))

function Charts({ history: { points, resolution } }: { history: JobHistory }) {
  const figures = useMemo(() => {
    const of = (name: 'backlog' | 'latency' | 'processed' | 'failed') => points.map((point) => point[name])
    return {
      times: points.map(({ at }) => new Date(at).getTime()),
      backlog: [{ name: 'Jobs', color: 'accent', values: of('backlog') }],
      latency: [{ name: 'Latency', color: 'warn', values: of('latency') }],
      processed: [{ name: 'Jobs a minute', color: 'good', values: perMinute(of('processed'), resolution) }],
      failed: [{ name: 'Failures a minute', color: 'bad', values: perMinute(of('failed'), resolution) }],
    }
  }, [points, resolution])
  // One point makes no line, and no range for the axis.
  if (points.length < 2)
    return <Empty title="Too little is recorded yet.">A point is added every ten seconds.</Empty>
  const { times } = figures
  return (
    <div className="grid gap-6 md:grid-cols-2">
      <Chart name="Backlog: jobs that wait" times={times} series={figures.backlog} format={rate} />
      <Chart name="Latency: age of the oldest job" times={times} series={figures.latency} format={seconds} />
      <Chart name="Throughput: attempts a minute" times={times} series={figures.processed} format={rate} />
      <Chart name="Failures: failed attempts a minute" times={times} series={figures.failed} format={rate} />
    </div>
  )
}
