import type { DatedFinding, ImpactFinding } from '@switchyard/domain/deployment'

export interface HookDeployment {
  id: number
  iid: number
  sha: string
  ref: string
  environment: { name: string; tier: string }
  project: { id: number; pathWithNamespace: string }
}

/** Returns the fields of a deployment in both events about it. */
function deploymentFields(
  { project, environment, ...deployment }: HookDeployment,
  externalUrl: string | undefined,
) {
  const impact = `/projects/${project.id}/deployments/${deployment.id}/impact`
  return {
    deployment_id: deployment.id,
    deployment_iid: deployment.iid,
    environment: environment.name,
    environment_tier: environment.tier,
    ref: deployment.ref,
    sha: deployment.sha,
    project: { id: project.id, path_with_namespace: project.pathWithNamespace },
    impact_url: externalUrl === undefined ? null : `${externalUrl}/api/v4${impact}`,
    console_url: deploymentPage({ project, ...deployment }, externalUrl),
  }
}

/** Returns the address of the page of a deployment in the console; null without a base of links. */
export const deploymentPage = (
  { project, id }: Pick<HookDeployment, 'project' | 'id'>,
  externalUrl: string | undefined,
): string | null =>
  externalUrl === undefined
    ? null
    : `${externalUrl}/console/projects/${project.pathWithNamespace}/deployments/${id}`

const findingFields = (finding: ImpactFinding) => ({
  service_name: finding.serviceName,
  tenant: finding.tenant || null,
  measure: finding.measure,
  fingerprint: finding.fingerprint || null,
  before: finding.before,
  after: finding.after,
  samples_before: finding.samplesBefore,
  samples_after: finding.samplesAfter,
  chance: finding.pValue,
  confidence: 1 - finding.pValue,
})

/**
 * Returns the delivery of the event `deployment_impact`. The same findings are sent once.
 *
 * @param externalUrl base of links, without a slash at its end; undefined: no links
 */
export function impactDelivery(
  deployment: HookDeployment,
  findings: readonly DatedFinding[],
  externalUrl: string | undefined,
) {
  const findingKeys = findings.map(({ tenant, serviceName, measure, fingerprint }) =>
    [tenant, serviceName, measure, fingerprint].join('\n'),
  )
  const body = {
    object_kind: 'deployment_impact',
    ...deploymentFields(deployment, externalUrl),
    findings: findings.map((finding) => ({ ...findingFields(finding), began_at: finding.changePointAt })),
  }
  return {
    event: 'deployment_impact',
    dedupeKey: JSON.stringify(['deployment_impact', deployment.id, ...findingKeys.sort()]),
    payload: JSON.stringify(body),
    requestHeaders: { 'X-Gitlab-Event': 'Deployment Impact Hook' },
  }
}

/** The effects of a rule on a deployment. */
export interface HookRun {
  id: number
  rule: { id: number; name: string }
  freezes: boolean
  /** Text of the banner; null: none is shown. */
  banner: string | null
  findings: readonly ImpactFinding[]
}

/**
 * Returns the delivery of the event `impact_rule`.
 *
 * @param externalUrl base of links, without a slash at its end; undefined: no links
 */
export const ruleDelivery = (deployment: HookDeployment, run: HookRun, externalUrl: string | undefined) => ({
  event: 'impact_rule',
  dedupeKey: JSON.stringify(['impact_rule', run.id]),
  payload: JSON.stringify({
    object_kind: 'impact_rule',
    rule: run.rule,
    run_id: run.id,
    freeze: run.freezes,
    banner_message: run.banner,
    ...deploymentFields(deployment, externalUrl),
    findings: run.findings.map(findingFields),
  }),
  requestHeaders: { 'X-Gitlab-Event': 'Impact Rule Hook' },
})
