import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { getPage } from '../../../api/client'
import { Badge, State } from '../../../components/badge'
import { ByJob } from '../../../components/by-job'
import { ChoiceFilter } from '../../../components/choice-field'
import { DataTable } from '../../../components/data-table'
import { FilterSelect } from '../../../components/fields'
import { Page, Panel } from '../../../components/page'
import { Pager } from '../../../components/pager'
import { Empty, NotAllowed, Shown } from '../../../components/states'
import { Time } from '../../../components/time'
import type { Deployment } from '../../../generated/types.gen'
import { duration } from '../../../lib/format'
import { oneOf, pageOf } from '../../../lib/search-params'
import { useHasRole } from '../project-data'
import { useProject, useProjectPath } from '../project-frame'
import { BecameWorse, useBlamed } from './became-worse'
import { DeployedCommit, DeployingSaga, DeploymentLink } from './deployed-commit'
import { environmentNamesQuery } from './environment-names'
import { EnvironmentsPanel } from './environments-panel'
import { FreezePeriodsPanel } from './freeze-periods-panel'
import { FreezesPanel } from './freezes-panel'

const route = getRouteApi('/projects/$namespace/$name/deployments')
const statuses = ['created', 'blocked', 'running', 'success', 'failed', 'canceled'] as const
const refreshMs = 5000

export const DeploymentsPage = () => (useHasRole('reporter') ? <Deployments /> : <NotAllowed />)

function Deployments() {
  const { path_with_namespace } = useProject()
  return (
    <Page title={`Deployments of ${path_with_namespace}`} heading="Deployments">
      <FreezesPanel />
      <EnvironmentsPanel />
      <DeploymentsPanel />
      <FreezePeriodsPanel />
    </Page>
  )
}

function DeploymentsPanel() {
  const project = useProjectPath()
  const { id: projectId, path_with_namespace } = useProject()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { environment } = search
  const status = oneOf(statuses, search.status)
  const page = pageOf(search.page)
  const deployments = useQuery({
    queryKey: [project, 'deployments', environment, status, page],
    queryFn: ({ signal }) =>
      getPage<Deployment>(
        `${project}/deployments`,
        { environment, status, page, order_by: 'id', sort: 'desc' },
        signal,
      ),
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
  })
  const isBlamed = useBlamed(deployments.data?.rows ?? [])
  const filter = (part: typeof search) => void navigate({ search: { ...search, ...part, page: undefined } })
  const filters = (
    <>
      <ChoiceFilter
        label="Environment"
        all="Every environment"
        value={environment}
        onChange={(value) => filter({ environment: value })}
        find={(text) => environmentNamesQuery(project, text)}
      />
      <FilterSelect
        label="Status"
        all="Every status"
        value={status}
        options={statuses}
        onChange={(value) => filter({ status: value })}
      />
    </>
  )
  return (
    <Panel name="Deployments" actions={filters} flush busy={deployments.isPending}>
      <Shown query={deployments}>
        {({ rows, total, nextPage }) => (
          <>
            <DataTable
              label="Deployments"
              columns={columnsIn(path_with_namespace, (each) => isBlamed(projectId, each))}
              rows={rows}
              rowKey={({ id }) => id}
              busy={deployments.isPlaceholderData}
              empty={environment || status ? noneFound : none}
            />
            <Pager
              page={page}
              nextPage={nextPage}
              total={total}
              onMove={(to) => void navigate({ search: { ...search, page: String(to) } })}
            />
          </>
        )}
      </Shown>
    </Panel>
  )
}

const noneFound = (
  <Empty title="No deployment fits the filters.">Choose every environment and every status.</Empty>
)
const none = (
  <Empty title="Nothing has been deployed yet.">
    A CI system or an orchestrator notes a deployment with <code>POST /projects/:id/deployments</code>.
  </Empty>
)

/** @param project its path */
const columnsIn = (project: string, isBlamed: (deployment: Deployment) => boolean) => [
  {
    header: 'Number',
    cell: (deployment: Deployment) => (
      <span className="flex flex-wrap items-center gap-2">
        <DeploymentLink deployment={deployment} project={project} />
        {deployment.frozen && <Badge tone="warn">while frozen</Badge>}
      </span>
    ),
  },
  {
    header: 'Status',
    cell: (deployment: Deployment) => (
      <span className="flex flex-wrap gap-1">
        <State of={deployment.status} />
        {isBlamed(deployment) && <BecameWorse />}
      </span>
    ),
  },
  {
    header: 'Environment',
    cell: ({ environment }: Deployment) => <span dir="auto">{environment.name}</span>,
  },
  {
    header: 'Commit',
    cell: (deployment: Deployment) => <DeployedCommit deployment={deployment} project={project} />,
  },
  {
    header: 'By',
    wide: true,
    cell: ({ user, job_identity }: Deployment) => (
      <>
        <span dir="auto">{user?.name ?? 'A deleted user'}</span>
        <ByJob job={job_identity} />
      </>
    ),
  },
  {
    header: 'Saga',
    wide: true,
    cell: (deployment: Deployment) => <DeployingSaga deployment={deployment} />,
  },
  { header: 'Created', wide: true, cell: ({ created_at }: Deployment) => <Time at={created_at} /> },
  {
    header: 'Took',
    numeric: true,
    wide: true,
    cell: ({ created_at, finished_at }: Deployment) =>
      finished_at ? duration(Math.max(0, Date.parse(finished_at) - Date.parse(created_at))) : '–',
  },
]
