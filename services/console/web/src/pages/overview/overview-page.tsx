import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { get } from '../../api/client'
import { mayUse, useSession } from '../../api/session'
import { Page } from '../../components/page'
import { Loading } from '../../components/states'
import type { ProjectState } from '../../generated/types.gen'
import { BroadcastsNow } from './broadcasts-now'
import { ProjectsNow } from './projects-now'
import { QueuesNow } from './queues-now'
import { SagasNow } from './sagas-now'

const route = getRouteApi('/')
const projectsShown = 8
/** Loaded only when needed, because most installations have a project. */
const FirstSteps = lazy(() => import('./first-steps').then(({ FirstSteps }) => ({ default: FirstSteps })))

/** Loaded later, so that the figures below are visible first. */
const TimeLine = lazy(() => import('./time-line/time-line').then(({ TimeLine }) => ({ default: TimeLine })))

/** The overview of the last hours and of current problems, each figure with a link to its list. */
export function OverviewPage() {
  const session = useSession()
  const { hours } = route.useSearch()
  const navigate = route.useNavigate()
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
      <Suspense fallback={<Loading />}>
        <TimeLine
          hours={hours}
          onHours={(next) => void navigate({ search: { hours: next }, resetScroll: false })}
        />
      </Suspense>
      <div className="grid gap-x-5 xl:grid-cols-2">
        {may.sagas && <SagasNow />}
        {may.projects && <ProjectsNow projects={projects} />}
        {may.queues && <QueuesNow />}
        <div id="broadcasts">
          <BroadcastsNow mayManage={mayUse(session, 'broadcasts')} />
        </div>
      </div>
    </Page>
  )
}
