import { State } from '../../components/badge'
import { type Column, DataTable } from '../../components/data-table'
import { TextLink } from '../../components/text-link'
import { Time } from '../../components/time'
import type { SagaChild, SagaDetail } from '../../generated/types.gen'

/** Returns '3 Ended, 1 Error'. */
export const countsText = (counts: SagaDetail['children_counts']): string =>
  Object.entries(counts ?? {})
    .map(([status, count]) => `${count} ${status}`)
    .join(', ')

export function Children({ items, tenant }: { items: readonly SagaChild[]; tenant: string | undefined }) {
  const columns: Column<SagaChild>[] = [
    {
      header: 'Saga',
      cell: ({ saga_id }) => (
        <TextLink
          to="/sagas/$sagaId"
          params={{ sagaId: saga_id }}
          search={{ tenant }}
          dir="auto"
          className="break-all"
        >
          {saga_id}
        </TextLink>
      ),
    },
    {
      header: 'Status',
      cell: ({ status, outcome }) => (
        <span className="flex flex-wrap gap-1">
          <State of={status} />
          <State of={outcome} />
        </span>
      ),
    },
    { header: 'Service', wide: true, cell: ({ service_name }) => <bdi>{service_name ?? '–'}</bdi> },
    { header: 'First seen', cell: ({ first_seen_at }) => <Time at={first_seen_at} /> },
    { header: 'Ended', wide: true, cell: ({ ended_at }) => <Time at={ended_at} /> },
  ]
  return <DataTable label="Children" columns={columns} rows={items} rowKey={({ saga_id }) => saga_id} />
}
