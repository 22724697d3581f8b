import type { ReactNode } from 'react'
import { Badge } from '../../components/badge'
import { type Column, DataTable } from '../../components/data-table'
import { TextLink } from '../../components/text-link'
import type { QueueMetrics } from '../../generated/types.gen'
import { count, duration } from '../../lib/format'
import { lateSeconds, type SourceFigures } from './use-sources'

interface QueueRow extends QueueMetrics {
  source: string
  name: string
}

export const queueRows = (sources: readonly SourceFigures[]): QueueRow[] =>
  sources.flatMap(({ name: source, queues }) =>
    Object.entries(queues).map(([name, queue]) => ({ source, name, ...queue })),
  )

export const QueueTable = ({ rows, empty }: { rows: readonly QueueRow[]; empty: ReactNode }) => (
  <DataTable
    label="Queues"
    rows={rows}
    rowKey={({ source, name }) => `${source} ${name}`}
    columns={queueColumns}
    empty={empty}
  />
)

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
