import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { get, segment } from '../../../api/client'
import { Badge, State } from '../../../components/badge'
import { ByJob } from '../../../components/by-job'
import { FactGrid, Page, Panel } from '../../../components/page'
import { isMissing, NotAllowed, NotFound, Shown } from '../../../components/states'
import { Time } from '../../../components/time'
import type { Deployment } from '../../../generated/types.gen'
import { duration } from '../../../lib/format'
import { ServiceLink } from '../../services/service-link'
import { useHasRole } from '../project-data'
import { useProject, useProjectPath } from '../project-frame'
import { ChangeFailurePanel } from './change-failure-panel'
import { DeployedCommit, DeployingSaga } from './deployed-commit'
import { ImpactPanel } from './impact-panel'

const route = getRouteApi('/projects/$namespace/$name/deployments/$deploymentId')
const refreshMs = 5000

export const DeploymentPage = () => (useHasRole('reporter') ? <ShownDeployment /> : <NotAllowed />)

function ShownDeployment() {
  const { path_with_namespace } = useProject()
  const { deploymentId } = route.useParams()
  const address = `${useProjectPath()}/deployments/${segment(deploymentId)}`
  const deployment = useQuery({
    queryKey: [address],
    queryFn: ({ signal }) => get<Deployment>(address, {}, signal),
    refetchInterval: refreshMs,
  })
  if (!/^\d+$/.test(deploymentId) || isMissing(deployment.error)) return <NotFound />
  const name = deployment.data ? `Deployment #${deployment.data.iid}` : 'Deployment'
  const heading = (
    <>
      {name}{' '}
      {deployment.data && (
        <span className="text-sm font-normal text-quiet">ID {deployment.data.id} in the API</span>
      )}
    </>
  )
  return (
    <Page title={`${name} of ${path_with_namespace}`} heading={heading}>
      <Panel name="Facts" busy={deployment.isPending}>
        <Shown query={deployment}>
          {(found) => <Facts deployment={found} project={path_with_namespace} />}
        </Shown>
      </Panel>
      {deployment.data && <ImpactPanel address={address} deployment={deployment.data} />}
      {deployment.data && <ChangeFailurePanel address={address} deployment={deployment.data} />}
    </Page>
  )
}

const Services = ({ names }: { names: readonly string[] }) => (
  <span className="flex flex-wrap gap-x-3">
    {names.map((name) => (
      <ServiceLink key={name} name={name} />
    ))}
  </span>
)

function Facts({ deployment, project }: { deployment: Deployment; project: string }) {
  const { status, frozen, environment, user, job_identity, services, created_at, finished_at } = deployment
  const facts = [
    [
      'Status',
      <span key="" className="flex flex-wrap gap-2">
        <State of={status} />
        {frozen && <Badge tone="warn">while frozen</Badge>}
      </span>,
    ],
    ['Environment', <bdi key="">{environment.name}</bdi>],
    ['Commit', <DeployedCommit key="" deployment={deployment} project={project} />],
    [
      'By',
      <span key="">
        <bdi>{user?.name ?? 'A deleted user'}</bdi>
        <ByJob job={job_identity} />
      </span>,
    ],
    ['Services', services.length === 0 ? '–' : <Services key="" names={services} />],
    ['Saga', <DeployingSaga key="" deployment={deployment} />],
    ['Created', <Time key="" at={created_at} />],
    ['Finished', <Time key="" at={finished_at} />],
    ['Took', finished_at ? duration(Math.max(0, Date.parse(finished_at) - Date.parse(created_at))) : '–'],
  ] as const
  return <FactGrid facts={facts} />
}
