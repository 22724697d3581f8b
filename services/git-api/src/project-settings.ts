/** What a setting takes: a switch, a number, a text, or one of the words of a list. */
export type SettingKind = 'flag' | 'count' | 'text' | readonly string[]

/** A setting of GitLab's projects, with the value that GitLab gives it. Null: none. */
export interface Setting {
  kind: SettingKind
  value: boolean | number | string | null
}

const flag = (value: boolean): Setting => ({ kind: 'flag', value })
const count = (value: number | null): Setting => ({ kind: 'count', value })
const text = (value: string | null = null): Setting => ({ kind: 'text', value })
const choice = (value: string, ...others: string[]): Setting => ({ kind: [value, ...others], value })
/** Who sees a feature: everybody who sees the project, its members, nobody. */
const feature = () => choice('enabled', 'private', 'disabled')

/**
 * The settings that GitLab's clients write and read back and that have no column of their own. They are kept and shown. Apart from
 * `ci_config_path`, which webhooks show, and `repository_access_level`, which rights follow, they have no effect: they are about
 * features that only GitLab has.
 */
export const projectSettings: Record<string, Setting> = {
  allow_merge_on_skipped_pipeline: flag(false),
  allow_pipeline_trigger_approve_deployment: flag(false),
  analytics_access_level: feature(),
  approvals_before_merge: count(0),
  auto_cancel_pending_pipelines: choice('enabled', 'disabled'),
  auto_devops_deploy_strategy: choice('continuous', 'manual', 'timed_incremental'),
  auto_devops_enabled: flag(true),
  auto_duo_code_review_enabled: flag(false),
  autoclose_referenced_issues: flag(true),
  build_coverage_regex: text(),
  build_git_strategy: choice('fetch', 'clone'),
  build_timeout: count(3600),
  builds_access_level: feature(),
  ci_allow_fork_pipelines_to_run_in_parent_project: flag(true),
  ci_config_path: text(''),
  ci_default_git_depth: count(20),
  ci_delete_pipelines_in_seconds: count(null),
  ci_forward_deployment_enabled: flag(true),
  ci_forward_deployment_rollback_allowed: flag(true),
  ci_pipeline_variables_minimum_override_role: choice('developer', 'no_one_allowed', 'maintainer', 'owner'),
  ci_push_repository_for_job_token_allowed: flag(false),
  ci_restrict_pipeline_cancellation_role: choice('developer', 'maintainer', 'no_one'),
  ci_separated_caches: flag(true),
  container_registry_access_level: feature(),
  duo_remote_flows_enabled: flag(false),
  emails_enabled: flag(true),
  enforce_auth_checks_on_uploads: flag(true),
  environments_access_level: feature(),
  external_authorization_classification_label: text(''),
  feature_flags_access_level: feature(),
  forking_access_level: feature(),
  group_runners_enabled: flag(true),
  infrastructure_access_level: feature(),
  issue_branch_template: text(),
  issues_access_level: feature(),
  issues_template: text(),
  keep_latest_artifact: flag(true),
  max_artifacts_size: count(null),
  max_pipelines_per_merge_train: count(null),
  merge_commit_template: text(),
  merge_method: choice('merge', 'rebase_merge', 'ff'),
  merge_pipelines_enabled: flag(false),
  merge_request_title_regex: text(),
  merge_request_title_regex_description: text(),
  merge_requests_access_level: feature(),
  merge_requests_template: text(),
  merge_trains_enabled: flag(false),
  merge_trains_skip_train_allowed: flag(false),
  model_experiments_access_level: feature(),
  model_registry_access_level: feature(),
  monitor_access_level: feature(),
  mr_default_target_self: flag(false),
  only_allow_merge_if_all_discussions_are_resolved: flag(false),
  only_allow_merge_if_all_status_checks_passed: flag(false),
  only_allow_merge_if_pipeline_succeeds: flag(false),
  package_registry_access_level: choice('enabled', 'private', 'disabled', 'public'),
  pages_access_level: choice('private', 'disabled', 'enabled', 'public'),
  prevent_merge_without_jira_issue: flag(false),
  printing_merge_request_link_enabled: flag(true),
  protect_merge_request_pipelines: flag(false),
  public_jobs: flag(true),
  releases_access_level: feature(),
  remove_source_branch_after_merge: flag(true),
  repository_access_level: choice('enabled', 'private'),
  request_access_enabled: flag(true),
  requirements_access_level: feature(),
  resolve_outdated_diff_discussions: flag(false),
  resource_group_default_process_mode: choice(
    'unordered',
    'oldest_first',
    'newest_first',
    'newest_ready_first',
  ),
  restrict_user_defined_variables: flag(false),
  security_and_compliance_access_level: choice('private', 'disabled', 'enabled'),
  service_desk_enabled: flag(false),
  shared_runners_enabled: flag(true),
  show_default_award_emojis: flag(true),
  show_diff_preview_in_email: flag(true),
  snippets_access_level: feature(),
  spp_repository_pipeline_access: flag(false),
  squash_commit_template: text(),
  squash_option: choice('default_off', 'default_on', 'always', 'never'),
  suggestion_commit_message: text(),
  warn_about_potentially_unwanted_characters: flag(true),
  web_based_commit_signing_enabled: flag(false),
  wiki_access_level: feature(),
}

/** Older switches of features → the settings that say who sees these. */
export const featureSwitches = {
  container_registry_enabled: 'container_registry_access_level',
  issues_enabled: 'issues_access_level',
  jobs_enabled: 'builds_access_level',
  merge_requests_enabled: 'merge_requests_access_level',
  packages_enabled: 'package_registry_access_level',
  snippets_enabled: 'snippets_access_level',
  wiki_enabled: 'wiki_access_level',
} as const satisfies Record<string, string>

/** Other names of settings; `opposite` ones say the contrary. */
export const settingAliases: Record<string, { name: string; opposite: boolean }> = {
  emails_disabled: { name: 'emails_enabled', opposite: true },
  public_builds: { name: 'public_jobs', opposite: false },
}

export type SettingValues = Record<string, Setting['value']>

/** What a project shows, from what is stored of it: settings, switches and aliases. */
export function shownSettings(stored: unknown): SettingValues {
  const defaults = Object.entries(projectSettings).map(([name, { value }]) => [name, value] as const)
  const values: SettingValues = { ...Object.fromEntries(defaults), ...(stored as SettingValues) }
  for (const [name, level] of Object.entries(featureSwitches)) values[name] = values[level] !== 'disabled'
  for (const [alias, { name, opposite }] of Object.entries(settingAliases)) {
    values[alias] = values[name] !== opposite
  }
  return values
}
