import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { send } from '../../../api/client'
import { ActionDialog } from '../../../components/action-dialog'
import { Badge } from '../../../components/badge'
import { Button } from '../../../components/button'
import { type Column, DataTable } from '../../../components/data-table'
import { MessageText } from '../../../components/message-text'
import { Time } from '../../../components/time'
import type { ImpactRuleRun } from '../../../generated/types.gen'
import { useMayChange } from '../project-data'
import { useProjectPath } from '../project-frame'
import { DeploymentLink } from './deployed-commit'
import { confidenceText, nameOf, ratioText } from './impact-text'

/**
 * What rules did about deployments, or would have done. Maintainers revert what is in force.
 *
 * @param about what the list does not say of each run, because all of them share it
 */
export function RuleRuns({
  runs,
  about,
  empty,
  changed,
}: {
  runs: readonly ImpactRuleRun[]
  about: 'rule' | 'deployment'
  empty?: ReactNode
  /** The key of the query that shows them. */
  changed: readonly unknown[]
}) {
  const mayChange = useMayChange('maintainer')
  const project = useProjectPath()
  const [reverted, setReverted] = useState<ImpactRuleRun>()
  const of: Column<ImpactRuleRun> =
    about === 'rule'
      ? {
          header: 'Deployment',
          cell: ({ deployment }) => <DeploymentLink deployment={deployment} project={project} />,
        }
      : { header: 'Rule', cell: ({ rule }) => <span dir="auto">{rule.name}</span> }
  const actions: Column<ImpactRuleRun> = {
    header: 'Actions',
    cell: (run) =>
      run.in_force && (
        <Button aria-label={`Revert ${nameOfRun(run)}`} onClick={() => setReverted(run)}>
          Revert…
        </Button>
      ),
  }
  const columns = [of, ...shared]
  return (
    <>
      <DataTable
        label="What rules did"
        columns={mayChange ? [...columns, actions] : columns}
        rows={runs}
        rowKey={({ id }) => id}
        empty={empty}
      />
      {reverted && <RevertDialog run={reverted} changed={changed} onClose={() => setReverted(undefined)} />}
    </>
  )
}

const nameOfRun = ({ rule, deployment }: ImpactRuleRun) => `${rule.name} about deployment #${deployment.iid}`

function RevertDialog({
  run,
  changed,
  onClose,
}: {
  run: ImpactRuleRun
  changed: readonly unknown[]
  onClose: () => void
}) {
  const client = useQueryClient()
  const address = `${useProjectPath()}/impact_rules/${run.rule.id}/runs/${run.id}/revert`
  const revert = async () => {
    await send('POST', address)
    await client.invalidateQueries({ queryKey: changed })
    onClose()
  }
  return (
    <ActionDialog
      title={`Revert ${nameOfRun(run)}`}
      action="Revert"
      look="danger"
      run={revert}
      onClose={onClose}
    >
      <p>
        {run.freeze && `Deployments to ${run.environment} are let through again. `}
        {run.banner_message && 'The banner goes away within seconds. '}
        The rule is not applied to this deployment again.
      </p>
    </ActionDialog>
  )
}

const shared: Column<ImpactRuleRun>[] = [
  { header: 'State', cell: (run) => <RunState run={run} /> },
  {
    header: 'Did',
    cell: ({ dry_run, freeze, banner_message, webhook, environment }) => (
      <ul className="grid gap-1">
        {dry_run && <li className="text-quiet">Nothing. It would have done this:</li>}
        {freeze && (
          <li>
            froze <bdi>{environment}</bdi>
          </li>
        )}
        {banner_message && (
          <li>
            showed a banner: <MessageText text={banner_message} />
          </li>
        )}
        {webhook && <li>told webhooks</li>}
      </ul>
    ),
  },
  {
    header: 'Because',
    cell: ({ findings }) => (
      <ul>
        {findings.map((finding) => (
          <li key={`${finding.service_name} ${finding.tenant} ${finding.measure} ${finding.fingerprint}`}>
            <bdi>{finding.service_name}</bdi>: {nameOf(finding)}
            <span className="block text-quiet">
              {ratioText(finding.ratio)}, {confidenceText(1 - finding.confidence)}
            </span>
          </li>
        ))}
      </ul>
    ),
  },
  { header: 'When', wide: true, cell: ({ applied_at }) => <Time at={applied_at} /> },
]

const reasons = {
  reverted: 'reverted',
  dismissed: 'findings dismissed',
  deployed: 'deployed since',
}

function RunState({ run: { dry_run, in_force, ended_at, end_reason, ended_by } }: { run: ImpactRuleRun }) {
  if (dry_run) return <Badge>dry run</Badge>
  if (in_force) return <Badge tone="bad">in force</Badge>
  if (ended_at === null) return <Badge tone="good">done</Badge>
  return (
    <>
      <Badge tone="good">{end_reason ? reasons[end_reason] : 'ended'}</Badge>{' '}
      <span className="text-quiet">
        {ended_by && (
          <>
            by <bdi>{ended_by.name}</bdi>,{' '}
          </>
        )}
        <Time at={ended_at} />
      </span>
    </>
  )
}
