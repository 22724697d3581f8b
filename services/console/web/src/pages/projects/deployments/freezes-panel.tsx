import { useQuery } from '@tanstack/react-query'
import { getPage } from '../../../api/client'
import { Panel } from '../../../components/page'
import { isRefused, Shown } from '../../../components/states'
import { Time } from '../../../components/time'
import type { Freeze } from '../../../generated/types.gen'
import { serverNow } from '../../../lib/server-clock'
import { useProject } from '../project-frame'
import { DeploymentLink } from './deployed-commit'

const refreshMs = 15_000
const rowsMax = 100

/** Reads the active freezes of the project, by freeze periods and by rules, the latest first. */
export function useFreezes() {
  const { id } = useProject()
  return useQuery({
    queryKey: ['freezes', 'now'],
    queryFn: ({ signal }) => {
      const question = { ends_after: new Date(serverNow()).toISOString(), per_page: rowsMax }
      return getPage<Freeze>('/freezes', question, signal)
    },
    select: ({ rows }) => rows.filter(({ project }) => project.id === id),
    refetchInterval: ({ state: { error } }) => (isRefused(error) ? false : refreshMs),
  })
}

/**
 * Returns whether an environment is frozen. A freeze period freezes every environment of the project, a rule
 * one of them.
 */
export const isFrozen = (environment: string, freezes: readonly Freeze[] | undefined): boolean =>
  freezes?.some(({ impact_rule_run: run }) => run === null || run.environment === environment) ?? false

/**
 * The active freezes, their reasons and their ends; nothing without any, and for tokens that may not read
 * freezes.
 */
export function FreezesPanel() {
  const freezes = useFreezes()
  if (freezes.isPending || freezes.data?.length === 0 || isRefused(freezes.error)) return null
  return (
    <Panel name="Frozen now">
      <Shown query={freezes}>
        {(found) => (
          <ul className="grid gap-2">
            {found.map((freeze) => (
              <li key={`${freeze.freeze_period?.id} ${freeze.impact_rule_run?.id} ${freeze.starts_at}`}>
                <FreezeLine freeze={freeze} />
              </li>
            ))}
          </ul>
        )}
      </Shown>
    </Panel>
  )
}

function FreezeLine({ freeze: { project, impact_rule_run: run, starts_at, ends_at } }: { freeze: Freeze }) {
  if (!run)
    return (
      <>
        Every environment by a freeze period: began <Time at={starts_at} />, ends <Time at={ends_at} />.
      </>
    )
  return (
    <>
      <bdi>{run.environment}</bdi> by the rule <bdi>{run.rule.name}</bdi>, because of{' '}
      <DeploymentLink deployment={run.deployment} project={project.path_with_namespace} inText>
        deployment #{run.deployment.iid}
      </DeploymentLink>
      : began <Time at={starts_at} />.{' '}
      <span className="text-quiet">
        It ends when a later deployment succeeds, or when somebody dismisses the findings or reverts the rule
        on the page of that deployment.
      </span>
    </>
  )
}
