import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { get, send } from '../../../api/client'
import { ActionDialog, textOf } from '../../../components/action-dialog'
import { Badge } from '../../../components/badge'
import { Button } from '../../../components/button'
import { TextArea } from '../../../components/fields'
import { Panel } from '../../../components/page'
import { Shown } from '../../../components/states'
import { Time } from '../../../components/time'
import type { Deployment, DeploymentImpact } from '../../../generated/types.gen'
import { countOf } from '../../../lib/format'
import { useMayChange } from '../project-data'
import { useProject } from '../project-frame'
import { DeploymentLink } from './deployed-commit'
import { QueueFigures } from './queue-figures'
import { RuleRuns } from './rule-runs'
import { ServiceFigures } from './service-figures'

const refreshMs = 10_000

/** Returns whether the impact can no longer change by itself. */
const isOver = ({ complete, rule_runs, services, queues }: DeploymentImpact) =>
  complete &&
  !rule_runs.some(({ in_force }) => in_force) &&
  [...services, ...queues].every(({ findings }) =>
    findings.every(({ recovered_at }) => recovered_at !== null),
  )

/** The findings in the services of a deployment, and whether a person has dismissed them. */
export function ImpactPanel({ address, deployment }: { address: string; deployment: Deployment }) {
  const query = useQuery({
    queryKey: [address, 'impact'],
    queryFn: ({ signal }) => get<DeploymentImpact>(`${address}/impact`, {}, signal),
    refetchInterval: ({ state: { data } }) => (data && isOver(data) ? false : refreshMs),
  })
  return (
    <Panel
      name="Before and after"
      busy={query.isPending}
      actions={query.data && <Judge address={address} impact={query.data} />}
    >
      <Shown query={query}>{(impact) => <Impact impact={impact} deployment={deployment} />}</Shown>
    </Panel>
  )
}

function Impact({ impact, deployment }: { impact: DeploymentImpact; deployment: Deployment }) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <div role="status">{verdictOf(impact)}</div>
      {impact.rule_runs.length > 0 && <RuleRuns runs={impact.rule_runs} about="deployment" />}
      {impact.services.map((service) => (
        <ServiceFigures
          key={`${service.service_name} ${service.tenant}`}
          service={service}
          impact={impact}
          finishedAt={deployment.finished_at}
        />
      ))}
      {impact.queues.map((queues) => (
        <QueueFigures key={queues.service_name} queues={queues} finishedAt={deployment.finished_at} />
      ))}
      {impact.after !== null && !impact.queues_compared && (
        <p className="text-sm text-quiet">
          Queues were not compared: their history could not be read, or does not reach back to this
          deployment.
        </p>
      )}
      <Sharers impact={impact} />
    </div>
  )
}

function verdictOf({ state, complete, dismissal, after, services, queues }: DeploymentImpact): ReactNode {
  switch (state) {
    case 'found':
      return <Badge tone="bad">became worse with this deployment</Badge>
    case 'dismissed':
      return (
        <>
          <Badge tone="warn">not the reason</Badge> <bdi>{dismissal?.reason}</bdi>{' '}
          <span className="text-quiet">
            by <bdi>{dismissal?.user?.name ?? 'a deleted user'}</bdi>, <Time at={dismissal?.created_at} />
          </span>
        </>
      )
    case 'pending':
      return after ? (
        <>
          Nothing became worse so far; compared <Time at={after.to} />.
        </>
      ) : (
        'The first comparison is two minutes after the end of the deployment.'
      )
    case 'none':
      return complete && services.length + queues.length === 0
        ? 'No saga of its services began in the compared times, and they have no queue.'
        : 'Nothing became worse with this deployment.'
    case 'not_compared':
      return 'Not compared: the deployment names no services, was canceled, or went to an environment of a tier that is not compared.'
  }
}

function Sharers({ impact: { concurrent_deployments, concurrent_elsewhere } }: { impact: DeploymentImpact }) {
  const { path_with_namespace } = useProject()
  if (concurrent_deployments.length + concurrent_elsewhere === 0) return null
  return (
    <p className="text-sm text-quiet">
      Other deployments of the same services at about the same time may be the reason as well:{' '}
      {concurrent_deployments.map((deployment) => (
        <span key={deployment.id} className="mr-2">
          <DeploymentLink deployment={deployment} project={path_with_namespace} inText />
        </span>
      ))}
      {concurrent_elsewhere > 0 && `${countOf(concurrent_elsewhere, 'deployment')} of other projects`}
    </p>
  )
}

/** Lets a person say that the deployment is not the cause, and withdraw that. */
function Judge({ address, impact: { state } }: { address: string; impact: DeploymentImpact }) {
  const client = useQueryClient()
  const mayChange = useMayChange('developer')
  const [isAsking, setIsAsking] = useState(false)
  if (!mayChange) return null
  const change = async (method: 'POST' | 'DELETE', body?: object) => {
    await send(method, `${address}/impact/dismissal`, body)
    // The dismissal also affects change failures and the rules in force.
    await client.invalidateQueries()
    setIsAsking(false)
  }
  return (
    <>
      {state === 'found' && <Button onClick={() => setIsAsking(true)}>Not the reason…</Button>}
      {state === 'dismissed' && <Button onClick={() => setIsAsking(true)}>Blame it again…</Button>}
      {isAsking && state === 'found' && (
        <ActionDialog
          title="This deployment is not the reason"
          action="Dismiss"
          onClose={() => setIsAsking(false)}
          run={(form) => change('POST', { reason: textOf(form, 'reason') })}
        >
          <p className="mb-3">
            A freeze and a banner that rules made because of it end, and stay ended when you blame it again.
          </p>
          <TextArea label="Reason" name="reason" required maxLength={1000} />
        </ActionDialog>
      )}
      {isAsking && state === 'dismissed' && (
        <ActionDialog
          title="Blame this deployment again"
          action="Blame it again"
          onClose={() => setIsAsking(false)}
          run={() => change('DELETE')}
        >
          <p>
            The reason that was given is removed. The audit log keeps it. A freeze and a banner that ended
            with it do not come back.
          </p>
        </ActionDialog>
      )}
    </>
  )
}
