import type { UseQueryResult } from '@tanstack/react-query'
import { State } from '../../components/badge'
import { Panel } from '../../components/page'
import { Shown } from '../../components/states'
import { TextLink } from '../../components/text-link'
import { Time } from '../../components/time'
import type { ProjectState } from '../../generated/types.gen'
import { projectParams, shortSha } from '../../lib/format'

/** The projects that changed last: the state of the default branch, and running deployments. */
export function ProjectsNow({ projects }: { projects: UseQueryResult<ProjectState[]> }) {
  return (
    <Panel name="Projects" actions={<TextLink to="/projects">All projects</TextLink>}>
      <Shown query={projects}>
        {(states) =>
          states.length === 0 ? <p className="text-quiet">No project yet.</p> : <Rows states={states} />
        }
      </Shown>
    </Panel>
  )
}

function Rows({ states }: { states: ProjectState[] }) {
  // Failed projects come first.
  const isFailed = ({ pipeline }: ProjectState) => pipeline?.status === 'failed'
  const sorted = [...states.filter(isFailed), ...states.filter((state) => !isFailed(state))]
  return (
    <ul className="divide-y">
      {sorted.map((state) => (
        <ProjectRow key={state.project.id} {...state} />
      ))}
    </ul>
  )
}

function ProjectRow({ project, pipeline, deployments }: ProjectState) {
  const params = projectParams(project.path_with_namespace)
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 py-1.5">
      <TextLink
        to="/projects/$namespace/$name"
        params={params}
        className="min-w-0 basis-full truncate sm:flex-1 sm:basis-0"
        dir="auto"
      >
        {project.path_with_namespace}
      </TextLink>
      {deployments.map(({ id, environment }) => (
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
