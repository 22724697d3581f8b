import { useQueries } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { get } from '../../api/client'
import { useMay } from '../../api/session'
import { Badge, State } from '../../components/badge'
import { TextBox } from '../../components/text-box'
import { TextLink } from '../../components/text-link'
import { Time } from '../../components/time'
import type { Project, SagaDetail } from '../../generated/types.gen'
import { duration, projectParams } from '../../lib/format'
import { ServiceLink } from '../services/service-link'
import { SagaState } from './saga-table'

export function SagaFacts({ saga }: { saga: SagaDetail }) {
  const tenant = saga.tenant === 'default' ? {} : { tenant: saga.tenant }
  const facts: [string, ReactNode][] = [
    ['Status', <SagaState key="" saga={saga} wrap />],
    ['Service', saga.service_name && <Service name={saga.service_name} tenant={tenant} />],
    ['Started', <Time key="" at={saga.started_at ?? saga.first_seen_at} />],
    ['Last event', <Time key="" at={saga.last_event_at} />],
    ['Ended', saga.ended_at && <Time at={saga.ended_at} />],
    ['Took', saga.duration_ms === null ? null : duration(saga.duration_ms)],
    ['Expires', saga.expires_at && <Time at={saga.expires_at} />],
    [
      'Begun by',
      saga.parent_saga_id ? (
        <TextLink to="/sagas/$sagaId" params={{ sagaId: saga.parent_saga_id }} search={tenant} dir="auto">
          {saga.parent_saga_id}
        </TextLink>
      ) : null,
    ],
    ['Tenant', saga.tenant === 'default' ? null : <bdi>{saga.tenant}</bdi>],
    ['Tags', saga.tags.length > 0 && <Tags tags={saga.tags} tenant={tenant} />],
    ['Flags', saga.flags.length > 0 && <Flags flags={saga.flags} />],
    ['Resolved', saga.resolution && <Resolution resolution={saga.resolution} />],
    ['Deployments', saga.deployments.length > 0 && <Deployments deployments={saga.deployments} />],
  ]
  return (
    <dl className="mb-5 grid grid-cols-2 gap-x-6 gap-y-3 rounded-lg border bg-panel p-4 sm:grid-cols-3 xl:grid-cols-4">
      {facts
        .filter(([, value]) => value !== null && value !== false)
        .map(([name, value]) => (
          <div key={name} className="min-w-0">
            <dt className="text-sm text-quiet">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}

/** The page of the service, and its sagas. */
function Service({ name, tenant }: { name: string; tenant: { tenant?: string } }) {
  return (
    <span className="flex flex-wrap gap-x-3">
      <ServiceLink name={name} {...tenant} />
      <TextLink to="/sagas" search={{ ...tenant, service: name }} className="text-sm">
        its sagas
      </TextLink>
    </span>
  )
}

const Tags = ({ tags, tenant }: { tags: string[]; tenant: { tenant?: string } }) => (
  <ul className="flex flex-wrap gap-x-3">
    {tags.map((tag) => (
      <li key={tag}>
        <TextLink to="/sagas" search={{ ...tenant, q: tag }} dir="auto">
          {tag}
        </TextLink>
      </li>
    ))}
  </ul>
)

const Flags = ({ flags }: Pick<SagaDetail, 'flags'>) => (
  <ul className="grid gap-1 text-sm">
    {flags.map(({ kind, activity_id, since }) => (
      <li key={`${kind} ${activity_id}`}>
        <State of={kind} /> <Time at={since} />
        {activity_id && <bdi className="block truncate text-quiet">{activity_id}</bdi>}
      </li>
    ))}
  </ul>
)

const Resolution = ({
  resolution: { at, by, note },
}: {
  resolution: NonNullable<SagaDetail['resolution']>
}) => (
  <>
    <Time at={at} /> by <bdi>{by ?? 'an operator'}</bdi>
    {note && (
      <p dir="auto" className="text-sm whitespace-pre-wrap text-quiet">
        {note}
      </p>
    )}
  </>
)

const projectsMax = 5

/**
 * The newest deployments that name the saga. Readers of sagas may not see a project, so its number is shown
 * instead.
 */
function Deployments({ deployments }: Pick<SagaDetail, 'deployments'>) {
  const mayRead = useMay('projects')
  const ids = [...new Set(deployments.map(({ project_id }) => project_id))].slice(0, projectsMax)
  const projects = useQueries({
    queries: ids.map((id) => ({
      queryKey: ['project', id],
      queryFn: ({ signal }: { signal: AbortSignal }) => get<Project>(`/projects/${id}`, {}, signal),
      enabled: mayRead,
      staleTime: 60_000,
    })),
    combine: (results) => new Map(results.map(({ data }, index) => [ids[index], data?.path_with_namespace])),
  })
  return (
    <ul className="grid gap-1">
      {deployments.map(({ id, project_id, environment, status }) => {
        const path = projects.get(project_id)
        return (
          <li key={id} className="flex flex-wrap items-center gap-x-2">
            {path ? (
              <TextLink
                to="/projects/$namespace/$name/deployments"
                params={projectParams(path)}
                search={{ environment }}
              >
                {path} · {environment}
              </TextLink>
            ) : (
              <span>
                Project {project_id} · <bdi>{environment}</bdi>
              </span>
            )}
            <State of={status} />
          </li>
        )
      })}
    </ul>
  )
}

/** The errors of all activities in full length. */
export function SagaErrors({ saga }: { saga: SagaDetail }) {
  const errors = saga.activities.flatMap(({ activity_id, execute_errors, compensate_errors }) => [
    ...(execute_errors ? [{ activity_id, phase: 'Execution', ...execute_errors }] : []),
    ...(compensate_errors ? [{ activity_id, phase: 'Compensation', ...compensate_errors }] : []),
  ])
  return (
    <ul className="grid gap-3">
      {errors.map(({ activity_id, phase, text, size, truncated }) => (
        <li key={`${phase} ${activity_id}`}>
          <p className="mb-1 flex flex-wrap items-center gap-2 text-sm">
            <Badge tone="bad">{phase}</Badge>
            <bdi className="min-w-0 break-all">{activity_id}</bdi>
          </p>
          <TextBox label={`${phase} error of ${activity_id}`} className="max-h-64 bg-bad-soft px-3 py-2">
            {text}
          </TextBox>
          {truncated && <p className="text-sm text-quiet">Cut: {size} bytes were reported.</p>}
        </li>
      ))}
    </ul>
  )
}
