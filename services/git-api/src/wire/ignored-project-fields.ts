import { z } from 'zod'

/** The fields of projects that GitLab's clients send and that mean nothing here: Switchyard lacks the features. */
const names = `
  allow_merge_on_skipped_pipeline analytics_access_level approvals_before_merge
  auto_cancel_pending_pipelines auto_devops_deploy_strategy auto_devops_enabled
  autoclose_referenced_issues build_git_strategy build_timeout builds_access_level ci_config_path
  ci_default_git_depth ci_forward_deployment_enabled ci_separated_caches
  container_registry_access_level container_registry_enabled emails_disabled emails_enabled
  environments_access_level external_authorization_classification_label feature_flags_access_level
  forking_access_level group_runners_enabled import_url infrastructure_access_level
  issues_access_level issues_enabled issues_template jobs_enabled keep_latest_artifact
  merge_commit_template merge_method merge_requests_access_level merge_requests_enabled
  merge_requests_template mirror model_experiments_access_level model_registry_access_level
  monitor_access_level only_allow_merge_if_all_discussions_are_resolved
  only_allow_merge_if_pipeline_succeeds package_registry_access_level packages_enabled
  pages_access_level printing_merge_request_link_enabled public_builds public_jobs
  releases_access_level remove_source_branch_after_merge repository_access_level repository_storage
  request_access_enabled requirements_access_level resolve_outdated_diff_discussions
  restrict_user_defined_variables security_and_compliance_access_level service_desk_enabled
  shared_runners_enabled snippets_access_level snippets_enabled squash_commit_template squash_option
  suggestion_commit_message warn_about_potentially_unwanted_characters wiki_access_level
  wiki_enabled
`

/** As optional parameters of any type. */
export const ignoredProjectFields: Record<string, z.ZodOptional<z.ZodUnknown>> = Object.fromEntries(
  names
    .trim()
    .split(/\s+/)
    .map((name) => [name, z.unknown().optional().meta({ description: 'Accepted, and has no effect' })]),
)
