import { flag, parameterProblem, text, unsupported } from '@switchyard/service-kit/http'
import { z } from 'zod'

/** The values of a setting: a switch, a number, a text, or one of the words of a list. */
export type SettingKind = 'flag' | 'count' | 'text' | readonly string[]

/** A setting of GitLab's projects with GitLab's default value. Null: no value. */
export interface Setting {
  kind: SettingKind
  value: boolean | number | string | null
}

const flagSetting = (value: boolean): Setting => ({ kind: 'flag', value })
const count = (value: number | null): Setting => ({ kind: 'count', value })
const textSetting = (value: string | null = null): Setting => ({ kind: 'text', value })
const choice = (value: string, ...others: string[]): Setting => ({ kind: [value, ...others], value })
/** A setting that says who can use a feature: everybody who sees the project, only its members, or nobody. */
const feature = () => choice('enabled', 'private', 'disabled')

/**
 * The settings that GitLab's clients write and read back and that have no column of their own. They are
 * stored and shown. They have no effect because they are about features that only GitLab has, except
 * `ci_config_path`, which webhooks show, and `repository_access_level`, which determines rights.
 */
export const projectSettings: Record<string, Setting> = {
  allow_merge_on_skipped_pipeline: flagSetting(false),
  allow_pipeline_trigger_approve_deployment: flagSetting(false),
  analytics_access_level: feature(),
  approvals_before_merge: count(0),
  auto_cancel_pending_pipelines: choice('enabled', 'disabled'),
  auto_devops_deploy_strategy: choice('continuous', 'manual', 'timed_incremental'),
  auto_devops_enabled: flagSetting(true),
  auto_duo_code_review_enabled: flagSetting(false),
  autoclose_referenced_issues: flagSetting(true),
  build_coverage_regex: textSetting(),
  build_git_strategy: choice('fetch', 'clone'),
  build_timeout: count(3600),
  builds_access_level: feature(),
  ci_allow_fork_pipelines_to_run_in_parent_project: flagSetting(true),
  ci_config_path: textSetting(''),
  ci_default_git_depth: count(20),
  ci_delete_pipelines_in_seconds: count(null),
  ci_forward_deployment_enabled: flagSetting(true),
  ci_forward_deployment_rollback_allowed: flagSetting(true),
  ci_job_token_scope_enabled: flagSetting(false),
  ci_pipeline_variables_minimum_override_role: choice('developer', 'no_one_allowed', 'maintainer', 'owner'),
  ci_push_repository_for_job_token_allowed: flagSetting(false),
  ci_restrict_pipeline_cancellation_role: choice('developer', 'maintainer', 'no_one'),
  ci_separated_caches: flagSetting(true),
  container_registry_access_level: feature(),
  duo_remote_flows_enabled: flagSetting(false),
  emails_enabled: flagSetting(true),
  enforce_auth_checks_on_uploads: flagSetting(true),
  environments_access_level: feature(),
  external_authorization_classification_label: textSetting(''),
  feature_flags_access_level: feature(),
  forking_access_level: feature(),
  group_runners_enabled: flagSetting(true),
  infrastructure_access_level: feature(),
  issue_branch_template: textSetting(),
  issues_access_level: feature(),
  issues_template: textSetting(),
  keep_latest_artifact: flagSetting(true),
  max_artifacts_size: count(null),
  max_pipelines_per_merge_train: count(null),
  merge_commit_template: textSetting(),
  merge_method: choice('merge', 'rebase_merge', 'ff'),
  merge_pipelines_enabled: flagSetting(false),
  merge_request_title_regex: textSetting(),
  merge_request_title_regex_description: textSetting(),
  merge_requests_access_level: feature(),
  merge_requests_template: textSetting(),
  merge_trains_enabled: flagSetting(false),
  merge_trains_skip_train_allowed: flagSetting(false),
  model_experiments_access_level: feature(),
  model_registry_access_level: feature(),
  monitor_access_level: feature(),
  mr_default_target_self: flagSetting(false),
  only_allow_merge_if_all_discussions_are_resolved: flagSetting(false),
  only_allow_merge_if_all_status_checks_passed: flagSetting(false),
  only_allow_merge_if_pipeline_succeeds: flagSetting(false),
  operations_access_level: feature(),
  package_registry_access_level: choice('enabled', 'private', 'disabled', 'public'),
  pages_access_level: choice('private', 'disabled', 'enabled', 'public'),
  prevent_merge_without_jira_issue: flagSetting(false),
  printing_merge_request_link_enabled: flagSetting(true),
  protect_merge_request_pipelines: flagSetting(false),
  public_jobs: flagSetting(true),
  releases_access_level: feature(),
  remove_source_branch_after_merge: flagSetting(true),
  repository_access_level: choice('enabled', 'private'),
  request_access_enabled: flagSetting(true),
  requirements_access_level: feature(),
  resolve_outdated_diff_discussions: flagSetting(false),
  resource_group_default_process_mode: choice(
    'unordered',
    'oldest_first',
    'newest_first',
    'newest_ready_first',
  ),
  restrict_user_defined_variables: flagSetting(false),
  runner_token_expiration_interval: count(null),
  security_and_compliance_access_level: choice('private', 'disabled', 'enabled'),
  service_desk_enabled: flagSetting(false),
  shared_runners_enabled: flagSetting(true),
  show_default_award_emojis: flagSetting(true),
  show_diff_preview_in_email: flagSetting(true),
  snippets_access_level: feature(),
  spp_repository_pipeline_access: flagSetting(false),
  squash_commit_template: textSetting(),
  squash_option: choice('default_off', 'default_on', 'always', 'never'),
  suggestion_commit_message: textSetting(),
  warn_about_potentially_unwanted_characters: flagSetting(true),
  web_based_commit_signing_enabled: flagSetting(false),
  wiki_access_level: feature(),
}

/** Older switches of features, each with the setting that replaces it. */
export const featureSwitches = {
  container_registry_enabled: 'container_registry_access_level',
  issues_enabled: 'issues_access_level',
  jobs_enabled: 'builds_access_level',
  merge_requests_enabled: 'merge_requests_access_level',
  packages_enabled: 'package_registry_access_level',
  requirements_enabled: 'requirements_access_level',
  security_and_compliance_enabled: 'security_and_compliance_access_level',
  snippets_enabled: 'snippets_access_level',
  wiki_enabled: 'wiki_access_level',
} as const satisfies Record<string, string>

/** Other names of settings; the value of an `opposite` one is inverted. */
export const settingAliases: Record<string, { name: string; opposite: boolean }> = {
  emails_disabled: { name: 'emails_enabled', opposite: true },
  public_builds: { name: 'public_jobs', opposite: false },
}

export type SettingValues = Record<string, Setting['value']>

/** Returns the settings, switches and aliases that a project shows. */
export function shownSettings(stored: unknown): SettingValues {
  const defaults = Object.entries(projectSettings).map(([name, { value }]) => [name, value] as const)
  const values: SettingValues = { ...Object.fromEntries(defaults), ...(stored as SettingValues) }
  for (const [name, level] of Object.entries(featureSwitches)) values[name] = values[level] !== 'disabled'
  for (const [alias, { name, opposite }] of Object.entries(settingAliases)) {
    values[alias] = values[name] !== opposite
  }
  return values
}

const textLengthMax = 10_000

/** The largest integer of PostgreSQL. */
const countMax = 2_147_483_647

function schemaOf(kind: SettingKind): z.ZodType<Setting['value']> {
  if (kind === 'flag') return flag()
  if (kind === 'count') return z.preprocess(wholeNumber, z.int().min(0).max(countMax))
  if (kind === 'text') return text(textLengthMax)
  return z.enum(kind as [string])
}

const wholeNumber = (value: unknown) =>
  typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value

/** Returns a setting as an optional parameter. Null: the default value. */
export const settingParameter = (kind: SettingKind, description: string) =>
  schemaOf(kind).nullish().meta({ description })

const kept =
  'Kept and shown, and without effect: see the documentation of projects. Null: as at the beginning'

/** The settings of GitLab's projects as optional parameters. */
export const settingParameters: Record<string, z.ZodType<Setting['value'] | undefined>> = Object.fromEntries([
  ...Object.entries(projectSettings).map(([name, { kind }]) => [name, settingParameter(kind, kept)]),
  ...Object.entries(featureSwitches).map(([name, level]) => [
    name,
    settingParameter('flag', `False: \`${level}\` becomes disabled`),
  ]),
  ...Object.entries(settingAliases).map(([alias, { name, opposite }]) => [
    alias,
    settingParameter('flag', opposite ? `The opposite of \`${name}\`` : `The same as \`${name}\``),
  ]),
])

/**
 * Returns the settings that parameters change. Null: back to the default value.
 *
 * @param stored the stored settings of the project
 * @throws DomainError invalid-parameters for two parameters that contradict each other
 */
export function readSettings(given: Given, stored: unknown): SettingValues | undefined {
  const current = shownSettings(stored)
  const asked = [...namedIn(given), ...switchesIn(given, current), ...aliasesIn(given)]
  const changes = asked.filter(([name, value]) => (value ?? projectSettings[name]?.value) !== current[name])
  return changes.length > 0 ? Object.fromEntries(changes) : undefined
}

type Given = Record<string, unknown>
type Asked = [name: string, value: Setting['value']]

const namedIn = (given: Given): Asked[] =>
  Object.keys(projectSettings).flatMap((name) =>
    given[name] === undefined ? [] : [[name, given[name] as Setting['value']]],
  )

function switchesIn(given: Given, current: SettingValues): Asked[] {
  return Object.entries(featureSwitches).flatMap(([name, level]): Asked[] => {
    const isOn = given[name]
    const asked = given[level] ?? undefined
    if (typeof isOn !== 'boolean') return []
    if (asked !== undefined && (asked !== 'disabled') !== isOn) throw contradiction(name, level)
    // A feature that is on keeps its audience.
    return asked !== undefined || current[name] === isOn ? [] : [[level, isOn ? 'enabled' : 'disabled']]
  })
}

function aliasesIn(given: Given): Asked[] {
  return Object.entries(settingAliases).flatMap(([alias, { name, opposite }]): Asked[] => {
    const value = given[alias]
    if (typeof value !== 'boolean') return []
    const meant = value !== opposite
    if (typeof given[name] === 'boolean' && given[name] !== meant) throw contradiction(alias, name)
    return [[name, meant]]
  })
}

const contradiction = (name: string, other: string) => parameterProblem(name, `contradicts ${other}`)

/** Parameters of GitLab's projects that Switchyard does not support, each with the reason. */
const refusals: Record<string, string> = {
  avatar: 'projects have no pictures',
  ci_id_token_sub_claim_components: 'there are no jobs that get tokens',
  container_expiration_policy_attributes: 'there is no container registry',
  group_with_project_templates_id: 'there are no templates of projects',
  import_url: 'projects are not imported; push the repository',
  mirror: 'repositories are not mirrored',
  mirror_branch_regex: 'repositories are not mirrored',
  mirror_overwrites_diverged_branches: 'repositories are not mirrored',
  mirror_trigger_builds: 'repositories are not mirrored',
  mirror_user_id: 'repositories are not mirrored',
  only_mirror_protected_branches: 'repositories are not mirrored',
  repository_storage: 'POST /projects/:id/repository_storage_moves moves a repository',
  template_name: 'there are no templates of projects',
  template_project_id: 'there are no templates of projects',
  use_custom_template: 'there are no templates of projects',
}

/**
 * Returns parameters that are refused with a reason, unless they switch off a feature that does not exist.
 */
export const refusedParameters = (reasons: Record<string, string>): Record<string, z.ZodType> =>
  Object.fromEntries(
    Object.entries(reasons).map(([name, reason]) => [
      name,
      unsupported(`is not supported: ${reason}`, 'false', '0'),
    ]),
  )

export const refusedProjectParameters = refusedParameters(refusals)
