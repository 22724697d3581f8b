import { isDeepStrictEqual } from 'node:util'
import { type AuditAuthor, type Database, inTransaction, type Rows, requireUnchanged } from '@switchyard/db'
import { lockProjectRow } from '@switchyard/db/sql'
import { conflict, forbidden, invalid, notFound, type Precondition, refuseProblems } from '@switchyard/domain'
import { boundTenantsOf, type Caller } from '@switchyard/domain/access'
import { impactRuleProblems } from '@switchyard/domain/deployment'
import { recordProjectEvent } from '../../audit/audit.js'
import type { ProjectCall } from '../../guards.js'
import type { RuleFields, RuleView, RunView } from './store.js'
import * as store from './store.js'

/** The number is limited because all rules are evaluated after each comparison. */
const rulesPerProjectMax = 50

export const listRules = (database: Database, { project }: ProjectCall, rows: Rows) =>
  store.listRules(database, project.id, rows)

/** @throws DomainError not-found */
export async function getRule(database: Database, { project }: ProjectCall, id: number): Promise<RuleView> {
  const rule = await store.findRule(database, project.id, id)
  if (!rule) throw notFound()
  return rule
}

/** @throws DomainError invalid, by field, or when the project has as many rules as are allowed; forbidden */
export async function addRule(
  database: Database,
  { project, caller }: ProjectCall<Caller>,
  fields: RuleFields,
  author: AuditAuthor,
): Promise<RuleView> {
  requireMayTarget(caller, fields)
  refuseProblems(impactRuleProblems(fields))
  return inTransaction(database, async (transaction) => {
    if ((await store.lockAndCountRules(transaction, project.id)) >= rulesPerProjectMax)
      throw invalid(`A project can have ${rulesPerProjectMax} impact rules at most`)
    const rule = await store.createRule(transaction, project.id, fields)
    await recordProjectEvent(transaction, author, project.id, 'impact_rule_created', detailsOf(rule))
    return rule
  })
}

/**
 * Changes a rule. A request without a change adds no audit event and does not move the time of the last
 * change.
 *
 * @param apply returns the new fields for the stored ones
 * @throws DomainError not-found; precondition-failed; invalid, by field; forbidden
 */
export const changeRule = (
  database: Database,
  { project, caller }: ProjectCall<Caller>,
  { id, apply }: { id: number; apply: (stored: RuleView) => RuleFields },
  author: AuditAuthor,
  precondition?: Precondition,
): Promise<RuleView> =>
  inTransaction(database, async (transaction) => {
    await lockProjectRow(transaction, project.id)
    await requireUnchanged(transaction, 'impact_rules', { project_id: project.id, id }, precondition)
    const before = await store.findRule(transaction, project.id, id)
    if (!before) throw notFound()
    const fields = apply(before)
    requireMayTarget(caller, before)
    requireMayTarget(caller, fields)
    refuseProblems(impactRuleProblems(fields))
    if (isDeepStrictEqual(before, { ...before, ...fields })) return before
    const rule = await store.updateRule(transaction, project.id, id, fields)
    if (!rule) throw notFound()
    await recordProjectEvent(transaction, author, project.id, 'impact_rule_changed', detailsOf(rule))
    return rule
  })

/**
 * Deletes a rule with the list of its runs.
 *
 * @throws DomainError not-found; precondition-failed; conflict while a freeze or a banner of it is in force
 */
export async function removeRule(
  database: Database,
  access: ProjectCall,
  id: number,
  author: AuditAuthor,
  precondition?: Precondition,
): Promise<void> {
  const { id: projectId } = access.project
  await inTransaction(database, async (transaction) => {
    await requireUnchanged(transaction, 'impact_rules', { project_id: projectId, id }, precondition)
    const rule = await store.findRule(transaction, projectId, id)
    if (!rule) throw notFound()
    if ((await store.deleteRule(transaction, projectId, id)) === 0)
      throw conflict('Something that the rule did is in force: revert it first')
    await recordProjectEvent(transaction, author, projectId, 'impact_rule_removed', detailsOf(rule))
  })
}

/**
 * Lists the runs of a rule, newest first.
 *
 * @throws DomainError not-found for the rule
 */
export async function listRuns(
  database: Database,
  access: ProjectCall<Caller>,
  ruleId: number,
  rows: Rows,
): Promise<{ runs: RunView[]; total: number }> {
  await getRule(database, access, ruleId)
  const filter = { projectId: access.project.id, ruleId }
  const [runs, total] = await Promise.all([
    store.listRuns(database, filter, rows),
    store.countRuns(database, filter),
  ])
  return { runs: runs.map((run) => shownTo(access.caller, run)), total }
}

/** Lists the runs of a project's rules for a deployment. */
export async function listRunsAbout(
  database: Database,
  { project, caller }: ProjectCall<Caller>,
  deploymentId: number,
): Promise<RunView[]> {
  const rows = { skip: 0, take: rulesPerProjectMax }
  const runs = await store.listRuns(database, { projectId: project.id, deploymentId }, rows)
  return runs.map((run) => shownTo(caller, run))
}

/**
 * Ends the freeze and the banner of a run.
 *
 * @throws DomainError not-found; conflict when neither is in force
 */
export async function revertRun(
  database: Database,
  { project, caller }: ProjectCall<Caller>,
  { ruleId, id }: { ruleId: number; id: number },
  author: AuditAuthor,
): Promise<RunView> {
  const filter = { projectId: project.id, ruleId, id }
  const find = async () => (await store.listRuns(database, filter, { skip: 0, take: 1 }))[0]
  const run = await find()
  if (!run) throw notFound()
  await inTransaction(database, async (transaction) => {
    if ((await store.endRun(transaction, filter, caller.user.id)) === 0)
      throw conflict('Nothing that the rule did is in force')
    const details = {
      impact_rule_id: ruleId,
      impact_rule_run_id: id,
      deployment_id: run.deploymentId,
      environment: run.environment,
    }
    await recordProjectEvent(transaction, author, project.id, 'impact_rule_reverted', details)
  })
  return shownTo(caller, (await find()) ?? run)
}

/** Returns a run without the findings in tenants that the caller's token cannot access. */
function shownTo(caller: Caller, run: RunView): RunView {
  const bound = boundTenantsOf(caller)
  return { ...run, findings: run.findings.filter(({ tenant }) => bound === null || bound.includes(tenant)) }
}

/**
 * Requires the rights of authors of broadcast messages for a rule with a banner, because a banner may appear
 * on any page of any site.
 */
function requireMayTarget({ user }: Caller, { banner }: Pick<RuleFields, 'banner'>): void {
  if (banner?.targetPath != null && !user.admin)
    throw forbidden('Only administrators write rules with a banner_target_path')
}

const detailsOf = ({ id, name, dryRun, freezes, banner, notifiesWebhooks, services }: RuleView) => ({
  impact_rule_id: id,
  name,
  dry_run: dryRun,
  freeze: freezes,
  banner: banner !== null,
  webhook: notifiesWebhooks,
  services,
})
