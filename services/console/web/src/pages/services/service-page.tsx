import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { get, segment } from '../../api/client'
import { useMay } from '../../api/session'
import { State } from '../../components/badge'
import { ByJob } from '../../components/by-job'
import { type Column, DataTable } from '../../components/data-table'
import { guarded } from '../../components/guarded'
import { Page, Panel } from '../../components/page'
import { Empty, isMissing, NotFound, Shown } from '../../components/states'
import { TextLink } from '../../components/text-link'
import { Time } from '../../components/time'
import type { Deployment, FoundImpact, ServiceDetail } from '../../generated/types.gen'
import { projectParams } from '../../lib/format'
import { BecameWorse } from '../projects/deployments/became-worse'
import { BeganWith } from '../projects/deployments/began-with'
import { DeployedCommit, DeploymentLink } from '../projects/deployments/deployed-commit'
import { ServiceQueues } from './service-queues'
import { ServiceSagas } from './service-sagas'

const route = getRouteApi('/services/$service')
const refreshMs = 5000

/** The versions of a service in its environments, their deployments, and its sagas and queues. */
export const ServicePage = guarded('projects', () => {
  const { service } = route.useParams()
  const { tenant } = route.useSearch()
  const maySeeSagas = useMay('sagas')
  const maySeeQueues = useMay('queues')
  const detail = useQuery({
    queryKey: ['service', service],
    queryFn: ({ signal }) => get<ServiceDetail>(`/services/${segment(service)}`, {}, signal),
    refetchInterval: refreshMs,
  })
  const isUndeployed = isMissing(detail.error)
  // Only the API of deployments reports that a service does not exist.
  if (isUndeployed && !maySeeSagas && !maySeeQueues) return <NotFound />
  return (
    <Page title={service}>
      <p className="mb-4 text-sm">
        <TextLink to="/services" className="underline">
          Services
        </TextLink>{' '}
        / <bdi className="wrap-anywhere">{service}</bdi>
      </p>
      {isUndeployed ? (
        <Undeployed />
      ) : (
        <Shown query={detail}>{(found) => <Deployed service={found} />}</Shown>
      )}
      {maySeeSagas && <ServiceSagas service={service} tenant={tenant} />}
      {maySeeQueues && <ServiceQueues service={service} />}
    </Page>
  )
})

const Undeployed = () => (
  <Panel name="Runs in">
    <Empty title="No deployment that you may see ships this service.">
      Give deployments their <code>services</code>, or name those of a project on its page Settings.
    </Empty>
  </Panel>
)

function Deployed({ service: { environments, deployments, findings } }: { service: ServiceDetail }) {
  const isWorse = ({ project, id }: { project: { id: number }; id: number }) =>
    findings.some(
      (found) => !found.dismissed && found.project.id === project.id && found.deployment.id === id,
    )
  return (
    <>
      <Panel name="Runs in" flush>
        <DataTable
          label="Environments"
          rows={environments}
          rowKey={({ id, project }) => `${project.id} ${id}`}
          columns={environmentColumns(isWorse)}
          empty={
            <Empty title="It runs nowhere.">
              No deployment of it has succeeded in an environment that is not stopped.
            </Empty>
          }
        />
      </Panel>
      {findings.length > 0 && (
        <Panel name="Became worse">
          <ul className="grid gap-3">
            {findings.map((found) => (
              <li key={`${found.deployment.id} ${found.tenant} ${found.measure} ${found.fingerprint}`}>
                <Found found={found} />
              </li>
            ))}
          </ul>
        </Panel>
      )}
      <Panel name="Last deployments" flush>
        <DataTable
          label="Deployments"
          rows={deployments}
          rowKey={({ id, project }) => `${project.id} ${id}`}
          columns={deploymentColumns(isWorse)}
        />
      </Panel>
    </>
  )
}

const Found = ({ found }: { found: FoundImpact }) => (
  <>
    <BeganWith found={found} />
    {found.tenant !== null && found.tenant !== 'default' && (
      <p className="text-sm text-quiet">
        In tenant <bdi>{found.tenant}</bdi>
      </p>
    )}
  </>
)

type Environment = ServiceDetail['environments'][number]
type DeploymentRow = ServiceDetail['deployments'][number]

const By = ({ deployment: { user, job_identity } }: { deployment: Deployment }) => (
  <>
    <bdi>{user?.name ?? 'A deleted user'}</bdi>
    <ByJob job={job_identity} />
  </>
)

type IsWorse = (deployment: { project: { id: number }; id: number }) => boolean

const environmentColumns = (isWorse: IsWorse): Column<Environment>[] => [
  {
    header: 'Environment',
    cell: ({ name, tier, project }) => (
      <>
        <TextLink
          to="/projects/$namespace/$name/deployments"
          params={projectParams(project.path_with_namespace)}
          search={{ environment: name }}
          dir="auto"
          className="wrap-anywhere"
        >
          {name}
        </TextLink>
        {tier !== name && <span className="block text-quiet">{tier}</span>}
      </>
    ),
  },
  {
    header: 'Version',
    cell: ({ deployment, project }) => (
      <DeployedCommit deployment={deployment} project={project.path_with_namespace} />
    ),
  },
  {
    header: 'Deployment',
    cell: ({ deployment, project }) => (
      <>
        <DeploymentLink deployment={deployment} project={project.path_with_namespace} />{' '}
        {isWorse({ project, id: deployment.id }) && <BecameWorse />}
        <bdi className="block text-quiet wrap-anywhere">{project.path_with_namespace}</bdi>
      </>
    ),
  },
  { header: 'Since', wide: true, cell: ({ deployment }) => <Time at={deployment.finished_at} /> },
  { header: 'By', wide: true, cell: ({ deployment }) => <By deployment={deployment} /> },
]

const deploymentColumns = (isWorse: IsWorse): Column<DeploymentRow>[] => [
  {
    header: 'Deployment',
    cell: (deployment) => (
      <>
        <DeploymentLink deployment={deployment} project={deployment.project.path_with_namespace} />
        <bdi className="block text-quiet wrap-anywhere">{deployment.project.path_with_namespace}</bdi>
      </>
    ),
  },
  {
    header: 'Status',
    cell: (deployment) => (
      <span className="flex flex-wrap gap-1">
        <State of={deployment.status} />
        {isWorse(deployment) && <BecameWorse />}
      </span>
    ),
  },
  { header: 'Environment', wide: true, cell: ({ environment }) => <bdi>{environment.name}</bdi> },
  {
    header: 'Commit',
    cell: (deployment) => (
      <DeployedCommit deployment={deployment} project={deployment.project.path_with_namespace} />
    ),
  },
  { header: 'By', wide: true, cell: (deployment) => <By deployment={deployment} /> },
  { header: 'Created', wide: true, cell: ({ created_at }) => <Time at={created_at} /> },
]
