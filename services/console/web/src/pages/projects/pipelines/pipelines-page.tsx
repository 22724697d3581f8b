import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { getPage } from '../../../api/client'
import { State } from '../../../components/badge'
import { type Column, PagedTable } from '../../../components/data-table'
import { FilterSelect } from '../../../components/fields'
import { Page, Panel } from '../../../components/page'
import { Empty } from '../../../components/states'
import { TextLink } from '../../../components/text-link'
import { Time } from '../../../components/time'
import type { ListedPipeline } from '../../../generated/types.gen'
import { shortSha } from '../../../lib/format'
import { oneOf, pageOf } from '../../../lib/search-params'
import { FilterBox } from '../filter-box'
import { useProject, useProjectParams, useProjectPath } from '../project-frame'

const route = getRouteApi('/projects/$namespace/$name/pipelines')
const statuses = ['running', 'pending', 'success', 'failed', 'canceled', 'skipped'] as const
const refreshMs = 5000

/** The pipelines of the project. A pipeline has all statuses of a commit and a branch or tag. */
export function PipelinesPage() {
  const { path_with_namespace } = useProject()
  const project = useProjectPath()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { ref } = search
  const status = oneOf(statuses, search.status)
  const page = pageOf(search.page)
  const pipelines = useQuery({
    queryKey: [project, 'pipelines', ref, status, page],
    queryFn: ({ signal }) => getPage<ListedPipeline>(`${project}/pipelines`, { ref, status, page }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
  })
  const filter = (part: typeof search) => void navigate({ search: { ...search, ...part, page: undefined } })
  return (
    <Page title={`Pipelines of ${path_with_namespace}`} heading="Pipelines">
      <div className="mb-4 flex flex-wrap gap-2">
        <FilterBox label="Branch or tag" value={ref} onChange={(value) => filter({ ref: value })} />
        <FilterSelect
          label="Status"
          all="Every status"
          value={status}
          options={statuses}
          onChange={(value) => filter({ status: value })}
        />
      </div>
      <Panel name="All pipelines" flush busy={pipelines.isPending}>
        <PagedTable
          label="Pipelines"
          query={pipelines}
          page={page}
          onMove={(to) => void navigate({ search: { ...search, page: String(to) } })}
          columns={columns}
          rowKey={({ id }) => id}
          empty={ref || status ? noneFound : none}
        />
      </Panel>
    </Page>
  )
}

const noneFound = <Empty title="No pipeline fits the filters.">Choose every branch, tag and status.</Empty>
const none = (
  <Empty title="No status was reported for a commit of this project.">
    A CI system reports one with <code>POST /projects/:id/statuses/:sha</code>; statuses of one commit and
    branch are a pipeline.
  </Empty>
)

const columns: Column<ListedPipeline>[] = [
  { header: 'Pipeline', cell: ({ id }) => <PipelineLink id={id} /> },
  { header: 'Status', cell: ({ status }) => <State of={status} /> },
  {
    header: 'Branch or tag',
    cell: ({ ref }) => (
      <span dir="auto" className="font-mono text-[13px] break-all">
        {ref ?? '–'}
      </span>
    ),
  },
  { header: 'Commit', wide: true, cell: ({ sha }) => <CommitLink sha={sha} /> },
  { header: 'Created', wide: true, cell: ({ created_at }) => <Time at={created_at} /> },
  { header: 'Last status', cell: ({ updated_at }) => <Time at={updated_at} /> },
]

function PipelineLink({ id }: { id: number }) {
  const params = useProjectParams()
  return (
    <TextLink
      to="/projects/$namespace/$name/pipelines/$pipelineId"
      params={{ ...params, pipelineId: String(id) }}
    >
      #{id}
    </TextLink>
  )
}

export function CommitLink({ sha }: { sha: string }) {
  const params = useProjectParams()
  return (
    <TextLink
      to="/projects/$namespace/$name/commits/$sha"
      params={{ ...params, sha }}
      className="font-mono text-[13px]"
    >
      {shortSha(sha)}
    </TextLink>
  )
}
