import type { DeploymentFinding } from '@switchyard/db'
import type { QueueMetrics, ServiceMetrics, ServiceQueues, WindowMetrics } from '@switchyard/delivery-impact'
import { oneOf } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { deploymentShape, presentDeployment } from '../../shapes/deployment.js'
import { impactDismissalShape, presentStatement } from '../../shapes/deployment-statement.js'
import { impactFindingShape, presentImpactFinding } from '../../shapes/impact-finding.js'
import { presentRun, ruleRunShape } from '../../shapes/rule-run.js'
import { type ImpactView, impactStates } from './impacts.js'

const metricsShape = z
  .object({
    sagas: z
      .int()
      .meta({ description: 'Sagas that ended, failed or are stuck: the base of the other numbers' }),
    failed: z.int().meta({ description: 'Without those that were compensated' }),
    compensated: z.int(),
    stuck: z.int(),
    timed_sagas: z.int().meta({ description: 'Successful sagas, from which the durations are computed' }),
    duration_p50: z.number().nullable().meta({ description: 'Seconds' }),
    duration_p95: z.number().nullable().meta({ description: 'Seconds' }),
  })
  .meta({ id: 'ImpactFigures', description: 'Metrics of the sagas of a service in a window' })

const queueMetricsShape = z
  .object({
    samples: z.int().meta({ description: 'Number of samples of the latency, one a minute' }),
    latency_p50: z.number().nullable().meta({ description: 'Seconds' }),
    latency_p95: z.number().nullable().meta({ description: 'Seconds' }),
    jobs: z.int().meta({ description: 'Attempts, failed ones included' }),
    failed_jobs: z.int(),
  })
  .meta({ id: 'ImpactQueueFigures', description: 'Metrics of the queues of a service in a window' })

const commonCauseShape = z.boolean().meta({
  description:
    'Services that were not deployed became worse at the same time, so the findings are not attributed to the deployment',
})

const windowShape = z.object({ from: z.date(), to: z.date() })

export const impactShape = z
  .object({
    state: oneOf(impactStates),
    before: windowShape.nullable(),
    after: windowShape.nullable(),
    complete: z.boolean().meta({ description: 'Whether the window after the deployment is full' }),
    services: z.array(
      z.object({
        service_name: z.string(),
        tenant: z.string(),
        common_cause: commonCauseShape,
        before: metricsShape,
        after: metricsShape,
        new_failures: z.array(z.object({ fingerprint: z.string(), sagas: z.int(), first_at: z.date() })),
        findings: z.array(impactFindingShape),
      }),
    ),
    queues: z
      .array(
        z.object({
          service_name: z.string(),
          common_cause: commonCauseShape,
          before: queueMetricsShape,
          after: queueMetricsShape,
          findings: z.array(impactFindingShape),
        }),
      )
      .meta({ description: 'The services that have queues; none for a token that is bound to tenants' }),
    queues_compared: z
      .boolean()
      .meta({ description: 'Whether the history of queues could be read, and has these windows' }),
    concurrent_deployments: z.array(deploymentShape).meta({
      description:
        'Deployments of the same services at about the same time, whose findings cannot be told apart',
    }),
    concurrent_elsewhere: z.int().meta({ description: 'Number of them in other projects' }),
    dismissal: impactDismissalShape.nullable(),
    rule_runs: z
      .array(ruleRunShape)
      .meta({ description: "The runs of the project's impact rules, newest first" }),
  })
  .meta({ id: 'DeploymentImpact', description: 'The impact of a deployment on its services' })

const presentMetrics = (metrics: WindowMetrics): z.output<typeof metricsShape> => ({
  sagas: metrics.sagas,
  failed: metrics.failed,
  compensated: metrics.compensated,
  stuck: metrics.stuck,
  timed_sagas: metrics.timed,
  duration_p50: metrics.durationP50,
  duration_p95: metrics.durationP95,
})

const presentQueueMetrics = (metrics: QueueMetrics): z.output<typeof queueMetricsShape> => ({
  samples: metrics.samples,
  latency_p50: metrics.latencyP50,
  latency_p95: metrics.latencyP95,
  jobs: metrics.jobs,
  failed_jobs: metrics.failedJobs,
})

export function presentImpact(view: ImpactView, baseUrl: string): z.output<typeof impactShape> {
  const { impact, dismissal } = view.stored
  return {
    state: view.state,
    before: impact && { from: impact.windowFrom, to: impact.startedAt },
    after: impact && { from: impact.startedAt, to: impact.windowTo },
    complete: impact !== null && impact.nextLookAt === null,
    services: view.services.map((metrics) => presentService(metrics, view.findings)),
    queues: (view.queues ?? []).map((metrics) => presentQueues(metrics, view.findings)),
    queues_compared: view.queues !== null,
    concurrent_deployments: view.concurrent.map((deployment) => presentDeployment(deployment, baseUrl)),
    concurrent_elsewhere: view.concurrentElsewhere,
    dismissal: dismissal && presentStatement(dismissal, baseUrl),
    rule_runs: view.ruleRuns.map((run) => presentRun(run, baseUrl)),
  }
}

const presentService = (
  { service: serviceName, tenant, commonCause, before, after, newFailures }: ServiceMetrics,
  findings: readonly DeploymentFinding[],
) => ({
  service_name: serviceName,
  tenant,
  common_cause: commonCause,
  before: presentMetrics(before),
  after: presentMetrics(after),
  new_failures: newFailures.map(({ fingerprint, sagas, firstAt }) => ({
    fingerprint,
    sagas,
    first_at: new Date(firstAt),
  })),
  findings: findings
    .filter((finding) => finding.serviceName === serviceName && finding.tenant === tenant)
    .map(presentImpactFinding),
})

const presentQueues = (
  { service: serviceName, commonCause, before, after }: ServiceQueues,
  findings: readonly DeploymentFinding[],
) => ({
  service_name: serviceName,
  common_cause: commonCause,
  before: presentQueueMetrics(before),
  after: presentQueueMetrics(after),
  findings: findings
    .filter((finding) => finding.serviceName === serviceName && finding.tenant === '')
    .map(presentImpactFinding),
})
