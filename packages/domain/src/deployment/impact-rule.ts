import { renderBody, textTemplateProblem } from '../body-template.js'
import { visibleControls } from '../display.js'
import type { FieldProblems } from '../errors.js'
import { growthOf, type ImpactFinding } from './impact-finding.js'

/** The condition of a rule about a deployment and its findings. An empty list sets no condition. */
export interface ImpactRuleCondition {
  services: readonly string[]
  measures: readonly string[]
  /** Names or tiers of environments. */
  environments: readonly string[]
  tiers: readonly string[]
  /** Least growth of a figure, as a multiple; null: any. */
  ratioMin: number | null
  /** Least confidence, between 0 and 1; null: any. */
  confidenceMin: number | null
}

/** Returns the findings about a deployment that fulfil the condition of a rule. */
export function findingsForRule<
  Finding extends Pick<ImpactFinding, 'serviceName' | 'measure' | 'before' | 'after' | 'pValue'>,
>(
  { services, measures, environments, tiers, ratioMin, confidenceMin }: ImpactRuleCondition,
  environment: { name: string; tier: string },
  findings: readonly Finding[],
): Finding[] {
  const isEverywhere = environments.length + tiers.length === 0
  if (!isEverywhere && !environments.includes(environment.name) && !tiers.includes(environment.tier))
    return []
  const isAmong = (names: readonly string[], name: string) => names.length === 0 || names.includes(name)
  return findings.filter(
    (finding) =>
      isAmong(services, finding.serviceName) &&
      isAmong(measures, finding.measure) &&
      growthOf(finding) >= (ratioMin ?? 0) &&
      1 - finding.pValue >= (confidenceMin ?? 0),
  )
}

const bannerLengthMax = 1000
const ruleNameLengthMax = 255
const targetPathLengthMax = 255
const ratioMax = 1_000_000

/** The names that a template of a banner may use. */
const bannerNames = ['rule', 'project', 'environment', 'deployment', 'ref', 'services', 'url']

/** The actions of a rule. */
export interface ImpactRuleActions {
  /** Whether the rule freezes the environment of the deployment. */
  freezes: boolean
  banner: { message: string; targetPath: string | null } | null
  notifiesWebhooks: boolean
}

/** Returns the problems of the fields of a rule, by the names of their parameters. */
export function impactRuleProblems(
  rule: ImpactRuleCondition & ImpactRuleActions & { name: string },
): FieldProblems {
  const { name, ratioMin, confidenceMin, freezes, banner, notifiesWebhooks } = rule
  const problems: FieldProblems = {}
  const note = (field: string, problem: string | null) => {
    if (problem !== null) problems[field] = [problem]
  }
  if (name.length > ruleNameLengthMax) note('name', tooLong(ruleNameLengthMax))
  if (ratioMin !== null && !(ratioMin >= 1 && ratioMin <= ratioMax))
    note('ratio_min', `must be between 1 and ${ratioMax}`)
  if (confidenceMin !== null && !(confidenceMin >= 0 && confidenceMin <= 1))
    note('confidence_min', 'must be between 0 and 1')
  if (banner) {
    note(
      'banner_message',
      textTemplateProblem(banner.message, { lengthMax: bannerLengthMax, names: bannerNames }),
    )
    if ((banner.targetPath ?? '').length > targetPathLengthMax)
      note('banner_target_path', tooLong(targetPathLengthMax))
  }
  if (!freezes && !banner && !notifiesWebhooks)
    note('freeze', 'is off, and neither banner_message nor webhook is set: the rule would do nothing')
  return problems
}

const tooLong = (max: number) => `is too long (maximum is ${max} characters)`

/** The values of the names in the template of a banner. */
export interface BannerValues {
  rule: string
  /** Full path of the project. */
  project: string
  environment: string
  /** Number of the deployment within its project. */
  deployment: number
  ref: string
  /** Names of the services that became worse. */
  services: readonly string[]
  /** Address of the page of the deployment; null: unknown. */
  url: string | null
}

const namedServicesMax = 5
const valuesLengthMax = 4000

/** Returns the message of a banner: Markdown in which no value is markup, a link or a mail address. */
export function bannerMessage(template: string, { services, url, ...others }: BannerValues): string {
  const named = [...new Set(services)]
  const unnamed = named.length - namedServicesMax
  const list = named.slice(0, namedServicesMax).join(', ') + (unnamed > 0 ? ` and ${unnamed} more` : '')
  const values = JSON.stringify({ ...others, services: list, url: url ?? '' })
  return renderBody(template, values, {
    json: false,
    escape: escapeMarkdown,
    addedLengthMax: valuesLengthMax,
  })
}

const escapeMarkdown = (text: string, kind: 'text' | 'url') =>
  kind === 'url'
    ? text.replace(/[<>\s]/g, encodeURIComponent)
    : visibleControls(text)
        .replace(/\s/g, ' ')
        .replace(/[!-/:-@[-`{-~]/g, '\\$&')

/**
 * Returns the target of a banner that is shown on the console pages of a project: its own page and the pages
 * below it.
 */
export function projectPagesTarget(pathWithNamespace: string): string {
  const page = `/console/projects/${pathWithNamespace}`
  return `${page}\n${page}/*`
}
