import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { get } from '../../api/client'
import { useMay } from '../../api/session'
import { Button } from '../../components/button'
import { type Column, DataTable } from '../../components/data-table'
import { guarded } from '../../components/guarded'
import { Page, Panel } from '../../components/page'
import { Empty, Shown } from '../../components/states'
import { TextLink } from '../../components/text-link'
import { Time } from '../../components/time'
import type { FoundImpact, SagaStats } from '../../generated/types.gen'
import { count } from '../../lib/format'
import { BeganWith, foundImpactsQuery } from '../projects/deployments/began-with'
import { surestOfEach } from '../projects/deployments/impact-text'
import { BulkDialogs, type BulkRequest } from './bulk-dialogs'
import { filterOf, type SagaSearch } from './saga-filter'
import { FilterText, FilterTime } from './saga-filters'

const route = getRouteApi('/failures')

type Cause = SagaStats['failures'][number]

export const FailuresPage = guarded('sagas', Failures)

function Failures() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const mayChange = useMay('sagas.change')
  const [request, setRequest] = useState<BulkRequest>()
  const query = useQuery({
    queryKey: ['sagas', 'stats', search],
    queryFn({ signal }) {
      const { tenant, service, from, to } = search
      return get<SagaStats>('/sagas/stats', { tenant, ...filterOf({ service, from, to }, undefined) }, signal)
    },
  })
  const isShown = ({ fingerprint }: Cause) => [undefined, fingerprint].includes(search.fingerprint)
  const impacts = useQuery(foundImpactsQuery({ tenant: search.tenant, service_name: search.service }))
  const change = (changed: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...changed }), resetScroll: false })
  // Without a time, the API uses the last day, and the list must find the same sagas.
  const shown: SagaSearch = { ...search, from: search.from ?? query.data?.from }
  const resolve = (cause: Cause) =>
    setRequest({ action: 'resolve', filter: filterOf(listOf(shown, cause), undefined) })
  const showJob = (job: string | undefined) =>
    void navigate({
      search: (before) => ({ ...before, job }),
      resetScroll: false,
      replace: job === undefined,
    })
  return (
    <Page title="Failures">
      <div className="mb-4 flex flex-wrap items-center gap-2">
        <FilterText label="Service" value={search.service} onChange={(service) => change({ service })} />
        <FilterTime label="First seen from" value={search.from} onChange={(from) => change({ from })} />
        <FilterTime label="First seen to" value={search.to} onChange={(to) => change({ to })} />
        <FilterText label="Tenant" value={search.tenant} onChange={(tenant) => change({ tenant })} />
      </div>
      <p className="mb-3 text-sm text-quiet">
        Errors of activities, grouped without the ids and numbers in their texts, the most frequent first; at
        most 50 groups.
        {!search.from && ' Unless you choose a time, of the sagas of the last 24 hours.'}
      </p>
      {search.fingerprint && (
        <p className="mb-3 text-sm">
          One cause is shown.{' '}
          <Button onClick={() => change({ fingerprint: undefined })}>Show every cause</Button>
        </p>
      )}
      <Panel name="Causes" flush busy={query.isFetching}>
        <Shown query={query}>
          {({ failures }) => (
            <DataTable
              label="Causes"
              rows={failures.filter(isShown)}
              rowKey={({ fingerprint }) => fingerprint}
              columns={columnsOf(shown, impacts.data ?? [], mayChange ? resolve : undefined)}
              empty={
                <Empty
                  title={`No activity has failed ${search.fingerprint ? 'by this cause ' : ''}in this time`}
                >
                  Choose an earlier time above to look further back.
                </Empty>
              }
            />
          )}
        </Shown>
      </Panel>
      <BulkDialogs
        tenant={search.tenant}
        request={request}
        onRequest={setRequest}
        job={search.job}
        onJob={showJob}
      />
    </Page>
  )
}

/** Returns the query of the list of sagas with this cause. */
const listOf = ({ service, tenant, from, to }: SagaSearch, { fingerprint }: Cause): SagaSearch => ({
  service,
  tenant,
  from,
  to,
  fingerprint,
})

function columnsOf(
  search: SagaSearch,
  impacts: readonly FoundImpact[],
  onResolve: ((cause: Cause) => void) | undefined,
): Column<Cause>[] {
  const actions: Column<Cause>[] = onResolve
    ? [{ header: 'Actions', cell: (cause) => <Button onClick={() => onResolve(cause)}>Resolve all…</Button> }]
    : []
  return [
    {
      header: 'Cause',
      cell: ({ sample, fingerprint }) => {
        const found = surestOfEach(impacts.filter((impact) => impact.fingerprint === fingerprint))
        return (
          <>
            <span dir="auto" className="line-clamp-3 min-w-32 font-mono text-xs whitespace-pre-wrap">
              {sample}
            </span>
            {found.map((each) => (
              <BeganWith key={each.service_name} found={each} />
            ))}
          </>
        )
      },
    },
    {
      header: 'Count',
      numeric: true,
      cell: (cause) => (
        <TextLink to="/sagas" search={listOf(search, cause)}>
          {count(cause.count)}
        </TextLink>
      ),
    },
    { header: 'First', wide: true, cell: ({ first_seen_at }) => <Time at={first_seen_at} /> },
    { header: 'Last', wide: true, cell: ({ last_seen_at }) => <Time at={last_seen_at} /> },
    ...actions,
  ]
}
