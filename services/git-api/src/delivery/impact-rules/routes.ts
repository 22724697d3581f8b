import type { Database, RuleBanner } from '@switchyard/db'
import { measures } from '@switchyard/delivery-impact'
import type { Caller } from '@switchyard/domain/access'
import { broadcastThemes } from '@switchyard/domain/broadcast'
import { environmentNameProblem, environmentTiers } from '@switchyard/domain/deployment'
import {
  auditAuthor,
  created,
  decimal,
  endpoint,
  filledText,
  flag,
  list,
  noContent,
  ok,
  pageParameters,
  pageReply,
  preconditionOf,
  type Route,
  route,
  rowId,
  rowsOf,
  text,
  versioned,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import { optional, serviceNames } from '../../shapes/parameters.js'
import { presentRun, ruleRunShape } from '../../shapes/rule-run.js'
import * as impactRules from './impact-rules.js'
import { impactRuleShape, presentRule } from './present.js'
import type { RuleFields, RuleView } from './store.js'

export function impactRuleRoutes({ database, guards: { maintain } }: ProjectResourceDependencies): Route[] {
  const path = '/projects/:id/impact_rules'
  const one = `${path}/:rule_id`
  return [
    route('GET', path, maintain, listRules(database), { refusesUnknown: true }),
    // An ignored misspelt condition would make the rule act where its author does not want it.
    route('POST', path, maintain, createRule(database), { refusesUnknown: true }),
    route('GET', one, maintain, getRule(database)),
    route('PUT', one, maintain, updateRule(database), { refusesUnknown: true }),
    route('DELETE', one, maintain, deleteRule(database)),
    route('GET', `${one}/runs`, maintain, listRuns(database), { refusesUnknown: true }),
    route('POST', `${one}/runs/:run_id/revert`, maintain, revertRun(database), { refusesUnknown: true }),
  ]
}

const ruleId = { rule_id: rowId() }
const wordsMax = 20

/** Parses unique words from a list, or from one text with commas. */
const words = <Word extends z.ZodType>(word: Word) =>
  z.preprocess(
    (value) => (typeof value === 'string' ? value.split(',').filter((part) => part.trim() !== '') : value),
    list(word, wordsMax).transform((given) => [...new Set(given)]),
  )

const environmentName = text()
  .transform((name) => name.trim())
  .refine((name) => environmentNameProblem(name) === null, { error: 'is no name of an environment' })

const optionalParameters = {
  services: optional(serviceNames()).meta({ description: 'Empty: all' }),
  measures: optional(words(z.enum(measures))).meta({ description: 'Empty: all' }),
  environments: optional(words(environmentName)).meta({
    description: 'Names. An environment fits by its name or by its tier; without both, each fits',
  }),
  tiers: optional(words(z.enum(environmentTiers))),
  ratio_min: decimal().nullish().meta({ description: 'Minimum factor by which a figure grew' }),
  confidence_min: decimal().nullish().meta({ description: 'Minimum confidence, from 0 to 1' }),
  freeze: optional(flag()).meta({ description: 'Freezes the environment of the deployment' }),
  banner_message: text().nullish().meta({ description: 'Markdown with `{{names}}`; blank: no banner' }),
  banner_target_path: text().nullish().meta({
    description: 'For administrators. Unset: the pages of the project in the console',
  }),
  banner_theme: optional(z.enum(broadcastThemes)),
  banner_dismissable: optional(flag()),
  webhook: optional(flag()).meta({ description: 'Notifies the webhooks with `impact_rule_events`' }),
  dry_run: optional(flag()).meta({ description: 'Only records what would be done' }),
}

type Given = z.output<z.ZodObject<typeof optionalParameters>>

/** Returns the stored fields with the given ones; missing fields stay. */
const changed = (stored: RuleFields, given: Given & { name?: string | undefined }): RuleFields => ({
  name: given.name ?? stored.name,
  services: given.services ?? stored.services,
  measures: given.measures ?? stored.measures,
  environments: given.environments ?? stored.environments,
  tiers: given.tiers ?? stored.tiers,
  ratioMin: given.ratio_min === undefined ? stored.ratioMin : given.ratio_min,
  confidenceMin: given.confidence_min === undefined ? stored.confidenceMin : given.confidence_min,
  freezes: given.freeze ?? stored.freezes,
  banner: changedBanner(stored.banner, given),
  notifiesWebhooks: given.webhook ?? stored.notifiesWebhooks,
  dryRun: given.dry_run ?? stored.dryRun,
})

function changedBanner(stored: RuleBanner | null, given: Given): RuleBanner | null {
  const message = given.banner_message === undefined ? stored?.message : given.banner_message
  if (!message?.trim()) return null
  const { banner_target_path: target } = given
  return {
    message,
    targetPath: target === undefined ? (stored?.targetPath ?? null) : target?.trim() || null,
    theme: given.banner_theme ?? stored?.theme ?? 'red',
    dismissable: given.banner_dismissable ?? stored?.dismissable ?? false,
  }
}

const nothing: RuleFields = {
  name: '',
  services: [],
  measures: [],
  environments: [],
  tiers: [],
  ratioMin: null,
  confidenceMin: null,
  freezes: false,
  banner: null,
  notifiesWebhooks: false,
  dryRun: true,
}

const listRules = (database: Database) =>
  endpoint({
    summary: 'List the impact rules of a project, oldest first',
    replies: { 200: z.array(impactRuleShape) },
    input: z.object(pageParameters),
    async handle(page, access: ProjectCall, call) {
      const found = await impactRules.listRules(database, access, rowsOf(page))
      return pageReply(found.rules.map(presentRule), page, found.total, call)
    },
  })

const createRule = (database: Database) =>
  endpoint({
    summary: 'Create an impact rule. Unless `dry_run` is false, it only records what it would do',
    replies: { 201: impactRuleShape },
    input: z.object({ ...optionalParameters, name: filledText() }),
    async handle(given, access: ProjectCall<Caller>, call) {
      const author = auditAuthor(access.caller, call)
      return created(
        presentRule(await impactRules.addRule(database, access, changed(nothing, given), author)),
      )
    },
  })

const getRule = (database: Database) =>
  endpoint({
    summary: 'Get an impact rule',
    replies: { 200: impactRuleShape },
    input: z.object(ruleId),
    async handle({ rule_id }, access: ProjectCall) {
      const rule = await impactRules.getRule(database, access, rule_id)
      return versioned(presentRule(rule), rule)
    },
  })

const updateRule = (database: Database) =>
  endpoint({
    summary: 'Change an impact rule',
    replies: { 200: impactRuleShape },
    refusals: [412],
    input: z.object({ ...ruleId, ...optionalParameters, name: filledText().optional() }),
    async handle({ rule_id: id, ...given }, access: ProjectCall<Caller>, call) {
      const author = auditAuthor(access.caller, call)
      const change = { id, apply: (stored: RuleView) => changed(stored, given) }
      const rule = await impactRules.changeRule(database, access, change, author, preconditionOf(call))
      return versioned(presentRule(rule), rule)
    },
  })

const deleteRule = (database: Database) =>
  endpoint({
    summary: 'Delete an impact rule and its runs; refused while its freeze or banner is active',
    replies: { 204: null },
    refusals: [409, 412],
    input: z.object(ruleId),
    async handle({ rule_id }, access: ProjectCall<Caller>, call) {
      const author = auditAuthor(access.caller, call)
      await impactRules.removeRule(database, access, rule_id, author, preconditionOf(call))
      return noContent()
    },
  })

const listRuns = (database: Database) =>
  endpoint({
    summary: 'List the runs of an impact rule, dry runs included, newest first',
    replies: { 200: z.array(ruleRunShape) },
    input: z.object({ ...ruleId, ...pageParameters }),
    async handle({ rule_id, ...page }, access: ProjectCall<Caller>, call) {
      const found = await impactRules.listRuns(database, access, rule_id, rowsOf(page))
      const items = found.runs.map((run) => presentRun(run, call.baseUrl))
      return pageReply(items, page, found.total, call)
    },
  })

const revertRun = (database: Database) =>
  endpoint({
    summary: 'End the freeze and the banner that an impact rule created',
    replies: { 200: ruleRunShape },
    refusals: [409],
    input: z.object({ ...ruleId, run_id: rowId() }),
    async handle({ rule_id: ruleId, run_id: id }, access: ProjectCall<Caller>, call) {
      const author = auditAuthor(access.caller, call)
      const run = await impactRules.revertRun(database, access, { ruleId, id }, author)
      return ok(presentRun(run, call.baseUrl))
    },
  })
