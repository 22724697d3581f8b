import { getRouteApi } from '@tanstack/react-router'
import { Badge } from '../../components/badge'
import { type Column, DataTable } from '../../components/data-table'
import { guarded } from '../../components/guarded'
import { Page, Panel } from '../../components/page'
import { RangeChoice } from '../../components/range-choice'
import { Empty } from '../../components/states'
import { Time } from '../../components/time'
import type { JobStats, ProcessMetrics } from '../../generated/types.gen'
import { bytes, count, duration } from '../../lib/format'
import { rangeNames, rangeOf } from './history'
import { HistoryCharts } from './history-charts'
import { QueueTable, queueRows } from './queue-table'
import { SourcesShown } from './sources-shown'
import { type SourceFigures, useSources } from './use-sources'

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

function Figures({ sources }: { sources: SourceFigures[] }) {
  return (
    <>
      <Totals jobs={sources.map(({ jobs }) => jobs)} />
      <Panel name="All queues" flush>
        <QueueTable
          rows={queueRows(sources)}
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
