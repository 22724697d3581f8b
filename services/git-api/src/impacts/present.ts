import type { DeploymentFinding } from '@switchyard/db'
import {
  type Measure,
  measures,
  type ServiceFigures,
  testNames,
  type WindowFigures,
} from '@switchyard/delivery-impact'
import { oneOf } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { deploymentShape, presentDeployment } from '../shapes/deployment.js'
import { presentRun, ruleRunShape } from '../shapes/rule-run.js'
import { presentUser, userShape } from '../shapes/user.js'
import { type ImpactView, impactStates } from './impacts.js'
import type { DismissalView, FindingView } from './store.js'

const figuresShape = z
  .object({
    sagas: z
      .int()
      .meta({ description: 'Those that ended, failed or wait: the number that the others are of' }),
    failed: z.int().meta({ description: 'Without those that were compensated' }),
    compensated: z.int(),
    stuck: z.int(),
    timed_sagas: z.int().meta({ description: 'Those that ended well, of which the durations are' }),
    duration_p50: z.number().nullable().meta({ description: 'Seconds' }),
    duration_p95: z.number().nullable().meta({ description: 'Seconds' }),
    queue_samples: z.int(),
    queue_latency: z.number().nullable().meta({ description: 'Seconds, the median of the samples' }),
    dead_jobs: z.int(),
  })
  .meta({ id: 'ImpactFigures', description: 'What a service did in a window' })

const findingFields = {
  measure: oneOf(measures),
  fingerprint: z.string().nullable().meta({ description: 'Of a new failure' }),
  before: z
    .number()
    .nullable()
    .meta({ description: 'A share of 1, seconds, or dead jobs in a minute; null: there was nothing before' }),
  after: z.number(),
  samples_before: z.int().meta({ description: 'Sagas, samples or jobs behind the figure' }),
  samples_after: z.int(),
  chance: z.number().meta({ description: 'Probability that chance alone does this' }),
  confidence: z.number().meta({ description: '1 minus that chance' }),
  test: z.string().meta({ description: 'The statistical test by which the chance was found' }),
  began_at: z.date(),
  found_at: z.date(),
  recovered_at: z.date().nullable().meta({
    description: 'When the figure was back where it was before; null: it is not, as far as is known',
  }),
}

const findingShape = z
  .object(findingFields)
  .meta({ id: 'ImpactFinding', description: 'One figure of a service that became worse with a deployment' })

const windowShape = z.object({ from: z.date(), to: z.date() })

export const dismissalShape = z
  .object({ reason: z.string(), user: userShape.nullable(), created_at: z.date() })
  .meta({ id: 'ImpactDismissal', description: 'What a person says who does not blame the deployment' })

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
        common_cause: z.boolean().meta({
          description:
            'Services that were not deployed became worse at the same moment, so nothing is blamed on the deployment',
        }),
        before: figuresShape,
        after: figuresShape,
        new_failures: z.array(z.object({ fingerprint: z.string(), sagas: z.int(), first_at: z.date() })),
        findings: z.array(findingShape),
      }),
    ),
    concurrent_deployments: z.array(deploymentShape).meta({
      description: 'Deployments of the same services at about the same time, which share what follows',
    }),
    concurrent_elsewhere: z.int().meta({ description: 'How many of them are in other projects' }),
    dismissal: dismissalShape.nullable(),
    rule_runs: z.array(ruleRunShape).meta({ description: 'What rules of the project did, the newest first' }),
  })
  .meta({ id: 'DeploymentImpact', description: 'What became worse in the services of a deployment with it' })

export const foundImpactShape = z
  .object({
    ...findingFields,
    service_name: z.string(),
    tenant: z.string(),
    project: z.object({ id: z.int(), path_with_namespace: z.string() }),
    deployment: deploymentShape,
    dismissed: z.boolean(),
  })
  .meta({ id: 'FoundImpact', description: 'What became worse with which deployment' })

const presentFigures = (figures: WindowFigures): z.output<typeof figuresShape> => ({
  sagas: figures.sagas,
  failed: figures.failed,
  compensated: figures.compensated,
  stuck: figures.stuck,
  timed_sagas: figures.timed,
  duration_p50: figures.durationP50,
  duration_p95: figures.durationP95,
  queue_samples: figures.queueSamples,
  queue_latency: figures.queueLatency,
  dead_jobs: figures.deadJobs,
})

const presentFinding = (finding: DeploymentFinding): z.output<typeof findingShape> => ({
  measure: finding.measure as Measure,
  fingerprint: finding.fingerprint || null,
  before: finding.before,
  after: finding.after,
  samples_before: finding.samplesBefore,
  samples_after: finding.samplesAfter,
  chance: finding.chance,
  confidence: 1 - finding.chance,
  test: testNames[finding.measure as Measure],
  began_at: finding.onsetAt,
  found_at: finding.foundAt,
  recovered_at: finding.recoveredAt,
})

export const presentDismissal = (
  { reason, user, createdAt }: DismissalView,
  baseUrl: string,
): z.output<typeof dismissalShape> => ({
  reason,
  user: user && presentUser(user, baseUrl),
  created_at: createdAt,
})

export function presentImpact(view: ImpactView, baseUrl: string): z.output<typeof impactShape> {
  const { impact, dismissal } = view.stored
  return {
    state: view.state,
    before: impact && { from: impact.windowFrom, to: impact.startedAt },
    after: impact && { from: impact.startedAt, to: impact.windowTo },
    complete: impact !== null && impact.nextLookAt === null,
    services: view.services.map((figures) => presentService(figures, view.findings)),
    concurrent_deployments: view.concurrent.map((deployment) => presentDeployment(deployment, baseUrl)),
    concurrent_elsewhere: view.concurrentElsewhere,
    dismissal: dismissal && presentDismissal(dismissal, baseUrl),
    rule_runs: view.ruleRuns.map((run) => presentRun(run, baseUrl)),
  }
}

const presentService = (
  { service, tenant, commonCause, before, after, newFailures }: ServiceFigures,
  findings: readonly DeploymentFinding[],
) => ({
  service_name: service,
  tenant,
  common_cause: commonCause,
  before: presentFigures(before),
  after: presentFigures(after),
  new_failures: newFailures.map(({ fingerprint, sagas, firstAt }) => ({
    fingerprint,
    sagas,
    first_at: new Date(firstAt),
  })),
  findings: findings
    .filter((finding) => finding.serviceName === service && finding.tenant === tenant)
    .map(presentFinding),
})

export const presentFoundImpact = (
  finding: FindingView,
  baseUrl: string,
): z.output<typeof foundImpactShape> => {
  const { project, dismissal } = finding.deployment
  return {
    ...presentFinding(finding),
    service_name: finding.serviceName,
    tenant: finding.tenant,
    project: { id: project.id, path_with_namespace: project.pathWithNamespace },
    deployment: presentDeployment(finding.deployment, baseUrl),
    dismissed: dismissal !== null,
  }
}
