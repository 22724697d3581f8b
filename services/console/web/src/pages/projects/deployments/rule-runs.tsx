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
import { useProject, useProjectPath } from '../project-frame'
import { DeploymentLink } from './deployed-commit'
import { confidenceText, nameOf, ratioText } from './impact-text'

/**
 * The runs of rules for deployments. Maintainers can revert those in force.
 *
 * @param about the columns that are left out, because all runs share them
 */
export function RuleRuns({
  runs,
  about,
  empty,
}: {
  runs: readonly ImpactRuleRun[]
  about: 'rule' | 'deployment'
  empty?: ReactNode
}) {
  const mayChange = useMayChange('maintainer')
  const { path_with_namespace: project } = useProject()
  const [reverted, setReverted] = useState<ImpactRuleRun>()
  const of: Column<ImpactRuleRun> =
    about === 'rule'
      ? {
          header: 'Deployment',
          cell: ({ deployment }) => <DeploymentLink deployment={deployment} project={project} />,
        }
      : { header: 'Rule', cell: ({ rule }) => <span dir="auto">{rule.name}</span> }
  const state: Column<ImpactRuleRun> = {
    header: 'State',
    cell: (run) => (
      <>
        <RunState run={run} />
        {mayChange && run.in_force && (
          <div className="mt-1">
            <Button aria-label={`Revert ${nameOfRun(run)}`} onClick={() => setReverted(run)}>
              Revert…
            </Button>
          </div>
        )}
      </>
    ),
  }
  return (
    <>
      <DataTable
        label="What rules did"
        columns={[
          of,
          state,
          did,
          { header: 'When', below: true, cell: ({ applied_at }) => <Time at={applied_at} /> },
        ]}
        rows={runs}
        rowKey={({ id }) => id}
        empty={empty}
      />
      {reverted && <RevertDialog run={reverted} onClose={() => setReverted(undefined)} />}
    </>
  )
}

const nameOfRun = ({ rule, deployment }: ImpactRuleRun) => `${rule.name} about deployment #${deployment.iid}`

function RevertDialog({ run, onClose }: { run: ImpactRuleRun; onClose: () => void }) {
  const client = useQueryClient()
  const address = `${useProjectPath()}/impact_rules/${run.rule.id}/runs/${run.id}/revert`
  const revert = async () => {
    await send('POST', address)
    await client.invalidateQueries()
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

/** The effect of a rule, and the findings that caused it, in one column that fits a narrow screen. */
const did: Column<ImpactRuleRun> = {
  header: 'Did, and why',
  cell: ({ dry_run, freeze, banner_message, webhook, environment, findings }) => (
    <div className="wrap-anywhere">
      <ul className="grid gap-1">
        {dry_run && <li className="text-quiet">Nothing. It would</li>}
        {freeze && (
          <li>
            {dry_run ? 'freeze' : 'froze'} <bdi>{environment}</bdi>
          </li>
        )}
        {banner_message && (
          <li>
            {dry_run ? 'show' : 'showed'} a banner: <MessageText text={banner_message} />
          </li>
        )}
        {webhook && <li>{dry_run ? 'tell' : 'told'} webhooks</li>}
      </ul>
      <ul className="mt-1 grid gap-1 border-t pt-1">
        {findings.map((finding) => (
          <li key={`${finding.service_name} ${finding.tenant} ${finding.measure} ${finding.fingerprint}`}>
            <bdi>{finding.service_name}</bdi>: {nameOf(finding)}
            <span className="block text-quiet">
              {ratioText(finding.ratio)}, confidence {confidenceText(1 - finding.confidence)}
            </span>
          </li>
        ))}
      </ul>
    </div>
  ),
}

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
