import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { getPage, getVersioned, segment, type Versioned } from '../../../api/client'
import { ActionDialog } from '../../../components/action-dialog'
import { Badge } from '../../../components/badge'
import { Button } from '../../../components/button'
import type { Column } from '../../../components/data-table'
import { Panel } from '../../../components/page'
import { Pager } from '../../../components/pager'
import { Empty, Problem, Shown } from '../../../components/states'
import { ButtonLink, TextLink } from '../../../components/text-link'
import type { ImpactRule, ImpactRuleRun } from '../../../generated/types.gen'
import { changeShown, useEdit } from '../../../lib/edit-version'
import { pageOf } from '../../../lib/search-params'
import { nameOf } from '../deployments/impact-text'
import { RuleRuns } from '../deployments/rule-runs'
import { useProjectParams, useProjectPath } from '../project-frame'
import { ResourcePanel } from '../resource-panel'
import { percentOf, RuleFields, useRuleOf } from './impact-rule-fields'

const route = getRouteApi('/projects/$namespace/$name/settings')
const refreshMs = 10_000

/** The rules of the project about findings of deployments. */
export function ImpactRulesPanel({ mayChange }: { mayChange: boolean }) {
  const address = `${useProjectPath()}/impact_rules`
  const client = useQueryClient()
  const ruleOf = useRuleOf()
  const [edited, setEdited] = useState<Versioned<ImpactRule>>()
  const pathOf = ({ id }: ImpactRule) => `${address}/${id}`
  const refresh = () => client.invalidateQueries()
  const [acting, setActing] = useState<ImpactRule>()
  const letAct = async (rule: ImpactRule) => {
    await changeShown(pathOf(rule), rule, { dry_run: false })
    await refresh()
    setActing(undefined)
  }
  const onlyTry = useMutation({
    mutationFn: (rule: ImpactRule) => changeShown(pathOf(rule), rule, { dry_run: true }),
    onSuccess: refresh,
  })
  const edit = useMutation({
    mutationFn: (rule: ImpactRule) => getVersioned<ImpactRule>(pathOf(rule)),
    onSuccess: setEdited,
  })
  return (
    <>
      {onlyTry.isError && <Problem error={onlyTry.error} />}
      {edit.isError && <Problem error={edit.error} />}
      {edited && (
        <EditDialog
          path={pathOf(edited.resource)}
          edited={edited}
          onSaved={refresh}
          onClose={() => setEdited(undefined)}
        />
      )}
      {acting && <ActDialog rule={acting} run={() => letAct(acting)} onClose={() => setActing(undefined)} />}
      <ResourcePanel<ImpactRule>
        name="Rules about deployments"
        address={address}
        rowKey={({ id }) => id}
        empty={
          <Empty title="There are no rules.">
            A rule freezes an environment, shows a banner or tells webhooks when services become worse with a
            deployment.
          </Empty>
        }
        columns={columns}
        rowActions={(rule) => (
          <>
            <RunsLink rule={rule} />
            {mayChange && (
              <Button aria-label={`Edit ${rule.name}`} onClick={() => edit.mutate(rule)}>
                Edit…
              </Button>
            )}
            {mayChange && (
              <Button
                aria-label={`${rule.dry_run ? 'Act on' : 'Only try'} ${rule.name}`}
                onClick={() => (rule.dry_run ? setActing(rule) : onlyTry.mutate(rule))}
              >
                {rule.dry_run ? 'Act…' : 'Only try'}
              </Button>
            )}
          </>
        )}
        add={mayChange ? { title: 'New rule', fields: <RuleFields />, bodyOf: ruleOf } : undefined}
        remove={
          mayChange
            ? {
                action: 'Remove',
                nameOf: ({ name }) => name,
                idOf: ({ id }) => id,
                effect: 'The list of what it did goes with it. What is in force has to be reverted first.',
              }
            : undefined
        }
      />
    </>
  )
}

/** Describes what a rule will do automatically, before it is enabled. */
function ActDialog({
  rule,
  run,
  onClose,
}: {
  rule: ImpactRule
  run: () => Promise<void>
  onClose: () => void
}) {
  const { name, freeze, banner_message: banner, banner_target_path: target, webhook } = rule
  return (
    <ActionDialog title={`Let ${name} act`} action="Let it act" run={run} onClose={onClose}>
      <p className="mb-2">From now on, each deployment that the rule is about has these effects by itself:</p>
      <ul className="mb-3 list-disc ps-5">
        {freeze && <li>Its environment is frozen: deployments there are refused or marked as frozen.</li>}
        {banner !== null && (
          <li>
            A banner is shown{' '}
            {target === null ? (
              'on the pages of the project'
            ) : (
              <>
                on <Names names={target.split('\n')} />
              </>
            )}
            : <bdi className="wrap-anywhere">{banner}</bdi>
            <span className="block text-sm text-quiet">
              In Markdown. Names in {'{{…}}'} stand for values of the deployment.
            </span>
          </li>
        )}
        {webhook && <li>Webhooks of the project are told, which cannot be taken back.</li>}
      </ul>
      <p className="mb-3 text-sm text-quiet">What it has noted as a dry run so far stays a dry run.</p>
    </ActionDialog>
  )
}

function EditDialog({
  path,
  edited,
  onSaved,
  onClose,
}: {
  path: string
  edited: Versioned<ImpactRule>
  onSaved: () => Promise<void>
  onClose: () => void
}) {
  const ruleOf = useRuleOf()
  const { save } = useEdit<ImpactRule, Partial<ImpactRule>>(path, edited, (rule) => rule)
  const run = async (form: FormData) => {
    await save(ruleOf(form))
    await onSaved()
    onClose()
  }
  return (
    <ActionDialog title={`Edit ${edited.resource.name}`} action="Save" run={run} onClose={onClose}>
      <RuleFields rule={edited.resource} />
    </ActionDialog>
  )
}

const RunsLink = ({ rule: { id, name } }: { rule: ImpactRule }) => (
  <TextLink
    to="/projects/$namespace/$name/settings"
    params={useProjectParams()}
    search={{ rule: String(id) }}
    hash="rule-runs"
    aria-label={`Runs of ${name}`}
    className="inline-flex min-h-8 items-center"
  >
    Runs
  </TextLink>
)

/** Names, each in its own element, because they may contain commas. */
const Names = ({ names }: { names: readonly string[] }) => (
  <span className="inline-flex flex-wrap gap-1">
    {names.map((name) => (
      <Badge key={name} wraps>
        <bdi className="wrap-anywhere">{name}</bdi>
      </Badge>
    ))}
  </span>
)

const columns: Column<ImpactRule>[] = [
  { header: 'Name', cell: ({ name }) => <span dir="auto">{name}</span> },
  {
    header: 'When',
    below: true,
    cell: (rule) => (
      <ul>
        <li>
          {rule.measures.length === 0
            ? 'anything becomes worse'
            : rule.measures.map((measure) => nameOf({ measure })).join(', ')}
          {rule.services.length > 0 && (
            <>
              {' '}
              in <Names names={rule.services} />
            </>
          )}
        </li>
        {rule.environments.length + rule.tiers.length > 0 && (
          <li>
            to <Names names={[...rule.environments, ...rule.tiers.map((tier) => `tier ${tier}`)]} />
          </li>
        )}
        {rule.ratio_min !== null && <li>{rule.ratio_min} times as much or more</li>}
        {rule.confidence_min !== null && (
          <li>with a confidence of {percentOf(rule.confidence_min)} % or more</li>
        )}
      </ul>
    ),
  },
  {
    header: 'Does',
    cell: ({ freeze, banner_message, webhook }) => (
      <span className="flex flex-wrap gap-1">
        {freeze && <Badge>freeze</Badge>}
        {banner_message && <Badge>banner</Badge>}
        {webhook && <Badge>webhook</Badge>}
      </span>
    ),
  },
  {
    header: 'State',
    // Effects of a rule stay in force when it becomes a dry run.
    cell: ({ dry_run, in_force }) => (
      <span className="flex flex-wrap gap-1">
        {in_force && <Badge tone="bad">in force</Badge>}
        {dry_run ? <Badge>dry run</Badge> : <Badge tone="good">acts</Badge>}
      </span>
    ),
  },
]

/** The runs of a rule, newest first. */
export function RuleRunsPanel({ rule }: { rule: string }) {
  const address = `${useProjectPath()}/impact_rules/${segment(rule)}/runs`
  const params = useProjectParams()
  const navigate = route.useNavigate()
  const page = pageOf(route.useSearch().page)
  const query = useQuery({
    queryKey: [address, page],
    queryFn: ({ signal }) => getPage<ImpactRuleRun>(address, { page }, signal),
    placeholderData: (before) => before,
    refetchInterval: refreshMs,
  })
  return (
    <div id="rule-runs" className="scroll-mt-16">
      <Panel
        name={`Runs of rule ${rule}`}
        flush
        busy={query.isPending}
        actions={
          <ButtonLink to="/projects/$namespace/$name/settings" params={params}>
            Close
          </ButtonLink>
        }
      >
        <Shown query={query}>
          {({ rows, total, nextPage }) => (
            <>
              <RuleRuns
                runs={rows}
                about="rule"
                empty={<Empty title="No deployment has fitted the rule yet." />}
              />
              <Pager
                page={page}
                nextPage={nextPage}
                total={total}
                onMove={(to) => void navigate({ search: { rule, page: String(to) }, resetScroll: false })}
              />
            </>
          )}
        </Shown>
      </Panel>
    </div>
  )
}
