import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { get } from '../../api/client'
import { mayUse, useSession } from '../../api/session'
import { Page } from '../../components/page'
import type { ProjectState } from '../../generated/types.gen'
import { BroadcastsNow } from './broadcasts-now'
import { ProjectsNow } from './projects-now'
import { QueuesNow } from './queues-now'
import { SagasNow } from './sagas-now'

const projectsShown = 8
/** Most installations have a project and need none of it. */
const FirstSteps = lazy(() => import('./first-steps').then(({ FirstSteps }) => ({ default: FirstSteps })))

/** What is wrong now comes first, each figure with the list behind it. */
export function OverviewPage() {
  const session = useSession()
  const may = {
    sagas: mayUse(session, 'sagas'),
    queues: mayUse(session, 'queues'),
    projects: mayUse(session, 'projects'),
  }
  const projects = useQuery({
    queryKey: ['projects', 'states'],
    queryFn: ({ signal }) => get<ProjectState[]>('/project_states', { per_page: projectsShown }, signal),
    enabled: may.projects,
    refetchInterval: 30_000,
  })
  const isNew = projects.data?.length === 0
  return (
    <Page title="Overview">
      <Suspense>{isNew && <FirstSteps />}</Suspense>
      <div className="grid gap-x-5 xl:grid-cols-2">
        {may.sagas && <SagasNow />}
        {may.projects && <ProjectsNow projects={projects} />}
        {may.queues && <QueuesNow />}
        <BroadcastsNow mayManage={mayUse(session, 'broadcasts')} />
      </div>
    </Page>
  )
}
