import { type UseQueryResult, useQueries } from '@tanstack/react-query'
import { getPage, type Page, segment } from '../../api/client'
import { State } from '../../components/badge'
import { Panel } from '../../components/page'
import { Shown } from '../../components/states'
import { TextLink } from '../../components/text-link'
import { Time } from '../../components/time'
import type { Deployment, ListedPipeline, Project } from '../../generated/types.gen'
import { shortSha } from '../../lib/format'

const refetchMs = 30_000

/** The projects that changed last: how the default branch stands, and what is being deployed. */
export function ProjectsNow({ projects }: { projects: UseQueryResult<Page<Project>> }) {
  return (
    <Panel name="Projects" actions={<TextLink to="/projects">All projects</TextLink>}>
      <Shown query={projects}>
        {({ rows }) =>
          rows.length === 0 ? <p className="text-quiet">No project yet.</p> : <Rows projects={rows} />
        }
      </Shown>
    </Panel>
  )
}

const addressOfProject = ({ path_with_namespace }: Project) => `/projects/${segment(path_with_namespace)}`

function Rows({ projects }: { projects: Project[] }) {
  const pipelines = useQueries({
    queries: projects.map((project) => ({
      queryKey: ['project', project.id, 'pipelines', project.default_branch],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        getPage<ListedPipeline>(
          `${addressOfProject(project)}/pipelines`,
          { ref: project.default_branch, per_page: 1 },
          signal,
        ),
      enabled: Boolean(project.default_branch),
      refetchInterval: refetchMs,
    })),
  })
  const deployments = useQueries({
    queries: projects.map((project) => ({
      queryKey: ['project', project.id, 'deployments', 'running'],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        getPage<Deployment>(
          `${addressOfProject(project)}/deployments`,
          { status: 'running', per_page: 3, order_by: 'created_at', sort: 'desc' },
          signal,
        ),
      refetchInterval: refetchMs,
    })),
  })
  const rows = projects.map((project, index) => ({
    project,
    pipeline: pipelines[index]?.data?.rows[0],
    running: deployments[index]?.data?.rows ?? [],
  }))
  // What failed stands first.
  const isFailed = (row: (typeof rows)[number]) => row.pipeline?.status === 'failed'
  const sorted = [...rows.filter(isFailed), ...rows.filter((row) => !isFailed(row))]
  return (
    <ul className="divide-y">
      {sorted.map((row) => (
        <ProjectRow key={row.project.id} {...row} />
      ))}
    </ul>
  )
}

function ProjectRow({
  project,
  pipeline,
  running,
}: {
  project: Project
  pipeline: ListedPipeline | undefined
  running: Deployment[]
}) {
  const [namespace = '', name = ''] = project.path_with_namespace.split('/')
  const params = { namespace, name }
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 py-1.5">
      <TextLink
        to="/projects/$namespace/$name"
        params={params}
        className="min-w-0 flex-1 truncate"
        dir="auto"
      >
        {project.path_with_namespace}
      </TextLink>
      {running.map(({ id, environment }) => (
        <TextLink
          key={id}
          to="/projects/$namespace/$name/deployments"
          params={params}
          search={{ status: 'running' }}
          className="text-sm"
        >
          deploying to {environment.name}
        </TextLink>
      ))}
      {pipeline && (
        <TextLink
          to="/projects/$namespace/$name/commits/$sha"
          params={{ ...params, sha: pipeline.sha }}
          className="text-sm"
        >
          <State of={pipeline.status} /> <code>{shortSha(pipeline.sha)}</code>
        </TextLink>
      )}
      <span className="text-sm text-quiet">
        <Time at={project.last_activity_at} />
      </span>
    </li>
  )
}
