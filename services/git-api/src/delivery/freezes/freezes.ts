import type { Database, Project, Rows } from '@switchyard/db'
import { excerpt, forbidden } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { type Call, inSlot } from '@switchyard/service-kit/http'
import type { Slots } from '@switchyard/service-kit/slots'
import { createReadSlots } from '../../read-slots.js'
import type { FreezeCalendar } from '../freeze-periods/freeze-periods.js'
import { listFreezePeriods, listReadableFreezePeriods } from '../freeze-periods/store.js'
import { type Freeze, findRuleFreeze, listReadableRuleFreezes } from './store.js'

export interface FreezeDependencies {
  database: Database
  freezeCalendar: FreezeCalendar
}

export interface FreezeListDependencies extends FreezeDependencies {
  freezeLists: Slots
}

/**
 * Creates the slots for lists of freezes of all projects. A list may evaluate hundreds of cron expressions,
 * each in some milliseconds of the event loop.
 */
export const createFreezeLists = (): Slots => createReadSlots(2, 'freezes')

/**
 * Most periods that are evaluated, and most freezes by rules that are read, for a list of freezes of all
 * projects.
 */
const sourcesMax = 500

/**
 * Returns one page of the freezes in a time of projects whose deployments the caller may read, the latest
 * first.
 */
export const listFreezes = (
  deps: FreezeListDependencies,
  caller: Caller,
  time: FreezeListTime,
  { skip, take }: Rows,
  call: Call,
): Promise<{ freezes: Freeze[]; total: number }> =>
  inSlot(deps.freezeLists, call, async () => {
    const freezes = await readFreezes(deps, caller, time, call.signal)
    freezes.sort((a, b) => b.startsAt.getTime() - a.startsAt.getTime())
    return { freezes: freezes.slice(skip, skip + take), total: freezes.length }
  })

interface FreezeListTime {
  endsAfter: Date
  startsBefore: Date
  now: Date
}

async function readFreezes(
  { database, freezeCalendar }: FreezeDependencies,
  caller: Caller,
  { endsAfter, startsBefore, now }: FreezeListTime,
  signal: AbortSignal,
): Promise<Freeze[]> {
  const time = { endsAfter, startsBefore }
  const freezes: Freeze[] = []
  for (const { project, ...period } of await listReadableFreezePeriods(database, caller, sourcesMax)) {
    for (const frozen of await freezeCalendar.listTimes(period, now, signal))
      if (frozen.endsAt >= endsAfter && frozen.startsAt <= startsBefore)
        freezes.push({ ...frozen, project, source: { period } })
  }
  freezes.push(...(await listReadableRuleFreezes(database, caller, time, sourcesMax)))
  return freezes
}

/**
 * Returns the freeze that affects a deployment, a freeze period before a freeze by a rule; null when there is
 * none.
 */
export async function findFreeze(
  { database, freezeCalendar }: FreezeDependencies,
  project: Project,
  deployed: { environment: string; sha: string },
  now: Date,
): Promise<Freeze | null> {
  const last = await freezeCalendar.findLast(await listFreezePeriods(database, project.id), now)
  if (!last) return findRuleFreeze(database, { projectId: project.id, ...deployed })
  const { period, ...frozen } = last
  return { ...frozen, project, source: { period } }
}

/** Returns the error for a deployment that a freeze prevents. */
export function frozenError({ source, endsAt }: Freeze) {
  const end = endsAt?.toISOString() ?? null
  if ('period' in source)
    return forbidden(`The project is frozen until ${end}`, { extra: { freeze_end_at: end } })
  const { id, ruleId, rule, deployment } = source.run
  const why = `by the rule '${excerpt(rule.name)}' because of deployment #${deployment.iid} (id ${deployment.id})`
  const help =
    'dismiss what was found about it, revert what the rule did, or step back to a commit that the environment ran before'
  return forbidden(`The environment is frozen ${why}: ${help}`, {
    extra: {
      freeze_end_at: end,
      deployment_id: deployment.id,
      impact_rule_id: ruleId,
      impact_rule_run_id: id,
    },
  })
}
