import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback } from 'react'
import { get, getPage } from '../../api/client'
import { useMay } from '../../api/session'
import { State } from '../../components/badge'
import { type Column, DataTable, PagedTable } from '../../components/data-table'
import { guarded } from '../../components/guarded'
import { Page, Panel } from '../../components/page'
import { SearchBox } from '../../components/search-box'
import { Empty, Shown } from '../../components/states'
import { TextLink } from '../../components/text-link'
import { Time } from '../../components/time'
import type { SagaStats, Service } from '../../generated/types.gen'
import { count } from '../../lib/format'
import { pageOf } from '../../lib/search-params'
import { BecameWorse, useBlamed } from '../projects/deployments/became-worse'
import { DeploymentLink } from '../projects/deployments/deployed-commit'
import { ServiceLink } from './service-link'

const route = getRouteApi('/services')
const refreshMs = 10_000

/** Services that deployments ship, and services that sagas report. */
export const ServicesPage = guarded('projects', () => {
  const { q, page: pageText } = route.useSearch()
  const navigate = route.useNavigate()
  const maySeeSagas = useMay('sagas')
  const page = pageOf(pageText)
  const services = useQuery({
    queryKey: ['services', q, page],
    queryFn: ({ signal }) => getPage<Service>('/services', { search: q, page }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
  })
  const isBlamed = useBlamed(services.data?.rows.map(({ last_deployment }) => last_deployment) ?? [])
  const search = useCallback(
    (value: string | undefined) => void navigate({ search: { q: value }, replace: true }),
    [navigate],
  )
  return (
    <Page title="Services">
      <div className="mb-4 flex">
        <SearchBox value={q} onChange={search} placeholder="Part of the name" />
      </div>
      <Panel name="Deployed" flush busy={services.isPending}>
        <PagedTable
          label="Services"
          query={services}
          page={page}
          onMove={(to) => void navigate({ search: { q, page: String(to) } })}
          columns={columnsWith(isBlamed)}
          rowKey={({ name }) => name}
          empty={q ? noneFound : none}
        />
      </Panel>
      {maySeeSagas && <OfSagas text={q ?? ''} />}
    </Page>
  )
})

const noneFound = <Empty title="No deployed service has this in its name.">Search for another text.</Empty>
const none = (
  <Empty title="No deployment that you may see names a service.">
    Give deployments their <code>services</code>, or name those of a project on its page Settings.
  </Empty>
)

const columnsWith = (isBlamed: ReturnType<typeof useBlamed>): Column<Service>[] => [
  { header: 'Service', cell: ({ name }) => <ServiceLink name={name} /> },
  {
    header: 'Last deployment',
    cell: ({ last_deployment: last }) => (
      <DeploymentLink deployment={last} project={last.project.path_with_namespace}>
        {last.project.path_with_namespace} #{last.iid}
      </DeploymentLink>
    ),
  },
  {
    header: 'Status',
    cell: ({ last_deployment: last }) => (
      <span className="flex flex-wrap gap-1">
        <State of={last.status} />
        {isBlamed(last.project.id, last) && <BecameWorse />}
      </span>
    ),
  },
  {
    header: 'Environment',
    wide: true,
    cell: ({ last_deployment: { environment } }) => <bdi>{environment.name}</bdi>,
  },
  {
    header: 'By',
    wide: true,
    cell: ({ last_deployment: { user } }) => <bdi>{user?.name ?? 'A deleted user'}</bdi>,
  },
  { header: 'Created', wide: true, cell: ({ last_deployment }) => <Time at={last_deployment.created_at} /> },
]

interface Reporting {
  name: string
  sagas: number
}

/** Services of the sagas of the last day, whoever deployed them. */
function OfSagas({ text }: { text: string }) {
  const stats = useQuery({
    queryKey: ['sagas', 'stats'],
    queryFn: ({ signal }) => get<SagaStats>('/sagas/stats', {}, signal),
    refetchInterval: refreshMs,
  })
  const isFound = ({ name }: Reporting) => name.toLowerCase().includes(text.toLowerCase())
  return (
    <Panel name="With sagas in the last day" flush busy={stats.isPending}>
      <Shown query={stats}>
        {({ by_service, from }) => (
          <DataTable
            label="Services of sagas"
            rows={Object.entries(by_service)
              .map(([name, sagas]) => ({ name, sagas }))
              .filter(isFound)}
            rowKey={({ name }) => name}
            columns={sagaColumns(from)}
            empty={
              <Empty title="No service has reported a saga within the last day.">
                Older ones are in the list of sagas.
              </Empty>
            }
          />
        )}
      </Shown>
    </Panel>
  )
}

const sagaColumns = (from: string): Column<Reporting>[] => [
  { header: 'Service', cell: ({ name }) => <ServiceLink name={name} /> },
  {
    header: 'Sagas',
    numeric: true,
    cell: ({ name, sagas }) => (
      <TextLink to="/sagas" search={{ service: name, from }}>
        {count(sagas)}
      </TextLink>
    ),
  },
]
