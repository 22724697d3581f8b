import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { getPage } from '../../api/client'
import { State } from '../../components/badge'
import { type Column, PagedTable } from '../../components/data-table'
import { guarded } from '../../components/guarded'
import { Page, Panel } from '../../components/page'
import { Empty } from '../../components/states'
import { TextLink } from '../../components/text-link'
import { Time } from '../../components/time'
import type { SagaBulkJob } from '../../generated/types.gen'
import { count } from '../../lib/format'
import { pageOf } from '../../lib/search-params'
import { BulkJobDialog } from './bulk-dialogs'
import { sentenceOf } from './bulk-progress'
import { SagaListBar } from './saga-filters'

const route = getRouteApi('/bulk-jobs')
const perPage = 50
const refetchMs = 5000

export const BulkJobsPage = guarded('sagas', BulkJobs)

/** Bulk jobs of operators; the API keeps a job for 30 days. */
function BulkJobs() {
  const search = route.useSearch()
  const { tenant, job } = search
  const navigate = route.useNavigate()
  const page = pageOf(search.page)
  const query = useQuery({
    queryKey: ['sagas-bulk', tenant ?? '', 'list', page],
    queryFn: ({ signal }) => getPage<SagaBulkJob>('/sagas/bulk', { tenant, page, per_page: perPage }, signal),
    placeholderData: (before) => before,
    refetchInterval: refetchMs,
  })
  return (
    <Page title="Bulk jobs">
      <SagaListBar tenant={tenant} onTenant={(given) => void navigate({ search: { tenant: given } })} />
      <Panel name="Jobs" flush busy={query.isPending}>
        <PagedTable
          label="Bulk jobs"
          query={query}
          page={page}
          onMove={(next) => void navigate({ search: { ...search, page: String(next) } })}
          rowKey={({ id }) => id}
          columns={columns}
          empty={
            <Empty title="Nobody has resolved or noted many sagas at once">
              Choose a filter on the page Sagas, then Resolve all or Note on all.
            </Empty>
          }
        />
      </Panel>
      {job && (
        <BulkJobDialog
          tenant={tenant}
          id={job}
          onClose={() =>
            void navigate({ search: { ...search, job: undefined }, replace: true, resetScroll: false })
          }
        />
      )}
    </Page>
  )
}

const columns: Column<SagaBulkJob>[] = [
  {
    header: 'Job',
    cell: ({ id }) => (
      <TextLink
        from="/bulk-jobs"
        to="/bulk-jobs"
        search={(before) => ({ ...before, job: String(id) })}
        resetScroll={false}
      >
        {id}
      </TextLink>
    ),
  },
  { header: 'Action', cell: ({ action }) => action },
  { header: 'State', cell: ({ state }) => <State of={state} /> },
  { header: 'Result', cell: (job) => sentenceOf(job) },
  { header: 'Sagas', numeric: true, cell: ({ matched }) => count(matched) },
  {
    header: 'Note',
    wide: true,
    cell: ({ note }) => (
      <span dir="auto" className="line-clamp-2 max-w-md">
        {note}
      </span>
    ),
  },
  { header: 'By', cell: ({ author }) => <span dir="auto">{author.username}</span> },
  { header: 'Started', cell: ({ created_at }) => <Time at={created_at} /> },
]
