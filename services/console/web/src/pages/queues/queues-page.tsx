import { getRouteApi } from '@tanstack/react-router'
import { Badge } from '../../components/badge'
import { type Column, DataTable } from '../../components/data-table'
import { guarded } from '../../components/guarded'
import { Page, Panel } from '../../components/page'
import { RangeChoice } from '../../components/range-choice'
import { Empty } from '../../components/states'
import { TextLink } from '../../components/text-link'
import { Time } from '../../components/time'
import type { JobStats, ProcessMetrics, QueueMetrics } from '../../generated/types.gen'
import { bytes, count, duration } from '../../lib/format'
import { rangeNames, rangeOf } from './history'
import { HistoryCharts } from './history-charts'
import { SourcesShown } from './sources-shown'
import { lateSeconds, type SourceFigures, useSources } from './use-sources'

const route = getRouteApi('/queues')
export const QueuesPage = guarded('queues', Queues)

function Queues() {
  const range = rangeOf(route.useSearch().range)
  const navigate = route.useNavigate()
  const found = useSources()
  return (
    <Page
      title="Queues"
      actions={
        <RangeChoice
          names={rangeNames}
          range={range}
          onChoose={(next) => void navigate({ search: { range: next } })}
        />
      }
    >
      <HistoryCharts range={range} />
      <SourcesShown found={found}>{(sources) => <Figures sources={sources} />}</SourcesShown>
    </Page>
  )
}

interface QueueRow extends QueueMetrics {
  source: string
  name: string
}

function Figures({ sources }: { sources: SourceFigures[] }) {
  const queues = sources.flatMap(({ name: source, queues }) =>
    Object.entries(queues).map(([name, queue]): QueueRow => ({ source, name, ...queue })),
  )
  return (
    <>
      <Totals jobs={sources.map(({ jobs }) => jobs)} />
      <Panel name="All queues" flush>
        <DataTable
          label="Queues"
          rows={queues}
          rowKey={({ source, name }) => `${source} ${name}`}
          columns={queueColumns}
          empty={<Empty title="No queue has had a job.">Queues appear with their first job or worker.</Empty>}
        />
      </Panel>
      <Panel name="All workers" flush>
        <DataTable
          label="Workers"
          rows={sources.flatMap(({ processes }) => processes)}
          rowKey={({ identity, hostname, pid }) => identity ?? `${hostname} ${pid}`}
          columns={workerColumns}
          empty={
            <Empty title="No worker runs.">
              Jobs wait until one starts: check the service worker on the page System.
            </Empty>
          }
        />
      </Panel>
    </>
  )
}

function Totals({ jobs }: { jobs: JobStats[] }) {
  const sum = (name: 'processed' | 'failed' | 'enqueued' | 'scheduled' | 'retry' | 'dead') =>
    jobs.reduce((total, stats) => total + stats[name], 0)
  const figures = [
    ['Waiting', sum('enqueued')],
    ['Scheduled', sum('scheduled')],
    ['To be retried', sum('retry')],
    ['Dead', sum('dead')],
    ['Processed', sum('processed')],
    ['Failed', sum('failed')],
  ] as const
  return (
    <dl className="mb-5 grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-6">
      {figures.map(([name, value]) => (
        <div key={name} className="rounded-lg border bg-panel px-4 py-2">
          <dt className="text-sm text-quiet">{name}</dt>
          <dd className="text-xl font-semibold tabular-nums">{count(value)}</dd>
        </div>
      ))}
    </dl>
  )
}

const queueColumns: Column<QueueRow>[] = [
  {
    header: 'Queue',
    cell: ({ source, name }) => (
      <TextLink to="/queues/$source/$queue" params={{ source, queue: name }} dir="auto">
        {name}
      </TextLink>
    ),
  },
  { header: 'Source', wide: true, cell: ({ source }) => source },
  {
    header: 'State',
    cell: ({ paused, latency }) =>
      paused ? (
        <Badge tone="warn">paused</Badge>
      ) : (
        <Badge tone={latency > lateSeconds ? 'bad' : 'good'}>
          {latency > lateSeconds ? 'late' : 'on time'}
        </Badge>
      ),
  },
  { header: 'Waiting', numeric: true, cell: ({ backlog }) => count(backlog) },
  { header: 'Latency', numeric: true, cell: ({ latency }) => duration(latency * 1000) },
  { header: 'Busy', numeric: true, wide: true, cell: ({ busy }) => known(busy) },
  { header: 'Processed', numeric: true, wide: true, cell: ({ processed }) => known(processed) },
  { header: 'Failed', numeric: true, wide: true, cell: ({ failed }) => known(failed) },
]

const known = (value: number | null | undefined) => (typeof value === 'number' ? count(value) : '–')

const workerColumns: Column<ProcessMetrics>[] = [
  {
    header: 'Worker',
    cell: ({ hostname, pid, tag }) => (
      <span dir="auto">
        {hostname}
        {pid > 0 && `:${pid}`} {tag && <Badge>{tag}</Badge>}
      </span>
    ),
  },
  {
    header: 'Busy',
    numeric: true,
    cell: ({ busy, concurrency }) => (concurrency > 0 ? `${busy} of ${concurrency}` : String(busy)),
  },
  {
    header: 'Last heartbeat',
    numeric: true,
    cell: ({ heartbeat_age }) =>
      typeof heartbeat_age === 'number' ? `${duration(heartbeat_age * 1000)} ago` : '–',
  },
  { header: 'Queues', wide: true, cell: ({ queues }) => queues.join(', ') },
  {
    header: 'Memory',
    wide: true,
    numeric: true,
    cell: ({ rss }) => (typeof rss === 'number' ? bytes(rss) : '–'),
  },
  { header: 'Started', wide: true, cell: ({ started_at }) => <Time at={started_at} /> },
]
