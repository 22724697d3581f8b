import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { get, getPage, segment } from '../../../api/client'
import { State } from '../../../components/badge'
import { type Column, PagedTable } from '../../../components/data-table'
import { FactGrid, Page, Panel } from '../../../components/page'
import { isMissing, NotFound, Shown } from '../../../components/states'
import { Time } from '../../../components/time'
import type { Job, Pipeline } from '../../../generated/types.gen'
import { duration } from '../../../lib/format'
import { pageOf } from '../../../lib/search-params'
import { useProject, useProjectPath } from '../project-frame'
import { CommitLink } from './pipelines-page'

const route = getRouteApi('/projects/$namespace/$name/pipelines/$pipelineId')
const perPage = 50
const refreshMs = 5000

/** One pipeline and the newest status of each name in it. */
export function PipelinePage() {
  const { path_with_namespace } = useProject()
  const address = `${useProjectPath()}/pipelines/${segment(route.useParams().pipelineId)}`
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const page = pageOf(search.page)
  const pipeline = useQuery({
    queryKey: [address],
    queryFn: ({ signal }) => get<Pipeline>(address, {}, signal),
    refetchInterval: refreshMs,
  })
  const jobs = useQuery({
    queryKey: [address, 'jobs', page],
    queryFn: ({ signal }) => getPage<Job>(`${address}/jobs`, { page, per_page: perPage }, signal),
    refetchInterval: refreshMs,
  })
  const { pipelineId } = route.useParams()
  if (!/^\d+$/.test(pipelineId) || isMissing(pipeline.error)) return <NotFound />
  return (
    <Page title={`Pipeline #${pipelineId} of ${path_with_namespace}`} heading={`Pipeline #${pipelineId}`}>
      <Panel name="Facts" busy={pipeline.isPending}>
        <Shown query={pipeline}>{(found) => <Facts pipeline={found} />}</Shown>
      </Panel>
      <Panel name="Statuses" flush busy={jobs.isPending}>
        <PagedTable
          label="Statuses"
          query={jobs}
          page={page}
          onMove={(to) => void navigate({ search: { page: String(to) } })}
          columns={columns}
          rowKey={({ id }) => id}
        />
      </Panel>
    </Page>
  )
}

function Facts({ pipeline: { status, ref, tag, sha, user, created_at, ...times } }: { pipeline: Pipeline }) {
  const facts = [
    ['Status', <State key="" of={status} />],
    [tag ? 'Tag' : 'Branch', <bdi key="">{ref ?? '–'}</bdi>],
    ['Commit', <CommitLink key="" sha={sha} />],
    ['First status by', <bdi key="">{user?.name ?? '–'}</bdi>],
    ['Created', <Time key="" at={created_at} />],
    ['Started', <Time key="" at={times.started_at} />],
    ['Finished', <Time key="" at={times.finished_at} />],
    ['Took', times.duration === null ? '–' : duration(times.duration * 1000)],
    ['Coverage', times.coverage === null ? '–' : `${times.coverage} %`],
  ] as const
  return <FactGrid facts={facts} />
}

const columns: Column<Job>[] = [
  { header: 'Name', cell: ({ name }) => <span dir="auto">{name}</span> },
  { header: 'Status', cell: ({ status }) => <State of={status} /> },
  { header: 'Reported', cell: ({ created_at }) => <Time at={created_at} /> },
  { header: 'Finished', wide: true, cell: ({ finished_at }) => <Time at={finished_at} /> },
  {
    header: 'Took',
    numeric: true,
    cell: (job) => (job.duration === null ? '–' : duration(job.duration * 1000)),
  },
  {
    header: 'Coverage',
    numeric: true,
    wide: true,
    cell: ({ coverage }) => (coverage === null ? '–' : `${coverage} %`),
  },
]
