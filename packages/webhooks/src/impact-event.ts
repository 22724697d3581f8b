import { linkBase } from './saga-payload.js'

/** What a webhook tells of one figure that became worse with a deployment. */
export interface ToldFinding {
  /** Empty for queues, which belong to no tenant. */
  tenant: string
  serviceName: string
  measure: string
  /** Empty unless it is a new failure. */
  fingerprint: string
  before: number | null
  after: number
  samplesBefore: number
  samplesAfter: number
  chance: number
  onsetAt: Date
}

export interface ToldDeployment {
  id: number
  iid: number
  sha: string
  ref: string
  environment: { name: string; tier: string }
  project: { id: number; pathWithNamespace: string }
}

/**
 * The delivery of the event `deployment_impact`. The same findings are told once.
 *
 * @param externalUrl base of links; undefined: no links
 */
export function impactDelivery(
  { project, environment, ...deployment }: ToldDeployment,
  findings: readonly ToldFinding[],
  externalUrl: string | undefined,
) {
  const told = findings.map(({ tenant, serviceName, measure, fingerprint }) =>
    [tenant, serviceName, measure, fingerprint].join('\n'),
  )
  const path = `/projects/${project.id}/deployments/${deployment.id}`
  const base = externalUrl === undefined ? undefined : linkBase(externalUrl)
  const body = {
    object_kind: 'deployment_impact',
    deployment_id: deployment.id,
    deployment_iid: deployment.iid,
    environment: environment.name,
    environment_tier: environment.tier,
    ref: deployment.ref,
    sha: deployment.sha,
    project: { id: project.id, path_with_namespace: project.pathWithNamespace },
    impact_url: base === undefined ? null : `${base}/api/v4${path}/impact`,
    console_url:
      base === undefined
        ? null
        : `${base}/console/projects/${project.pathWithNamespace}/deployments/${deployment.id}`,
    findings: findings.map((finding) => ({
      service_name: finding.serviceName,
      tenant: finding.tenant || null,
      measure: finding.measure,
      fingerprint: finding.fingerprint || null,
      before: finding.before,
      after: finding.after,
      samples_before: finding.samplesBefore,
      samples_after: finding.samplesAfter,
      chance: finding.chance,
      confidence: 1 - finding.chance,
      began_at: finding.onsetAt,
    })),
  }
  return {
    event: 'deployment_impact',
    dedupeKey: JSON.stringify(['deployment_impact', deployment.id, ...told.sort()]),
    payload: JSON.stringify(body),
    requestHeaders: { 'X-Gitlab-Event': 'Deployment Impact Hook' },
  }
}
