import type { DeploymentFinding } from '@switchyard/db'
import { type Measure, measures, testNames } from '@switchyard/delivery-impact'
import { oneOf } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { FindingView } from '../delivery/impacts/store.js'
import { deploymentShape, presentDeployment } from './deployment.js'
import { presentProjectReference, projectReferenceShape } from './project.js'

const findingFields = {
  measure: oneOf(measures),
  fingerprint: z.string().nullable().meta({ description: 'Fingerprint of a new failure' }),
  before: z
    .number()
    .nullable()
    .meta({ description: 'A ratio from 0 to 1, or seconds; null: there was no data before' }),
  after: z.number(),
  samples_before: z.int().meta({ description: 'Sagas, samples or attempts at jobs behind the figure' }),
  samples_after: z.int(),
  chance: z.number().meta({ description: 'Probability that chance alone explains the finding' }),
  confidence: z
    .number()
    .meta({ description: '1 minus the probability that chance alone explains the finding' }),
  test: z.string().meta({ description: 'The statistical test by which the chance was found' }),
  began_at: z.date(),
  found_at: z.date(),
  recovered_at: z.date().nullable().meta({
    description: 'The time at which the figure recovered; null: it has not recovered, as far as is known',
  }),
}

export const impactFindingShape = z
  .object(findingFields)
  .meta({ id: 'ImpactFinding', description: 'A figure of a service that became worse with a deployment' })

export const foundImpactShape = z
  .object({
    ...findingFields,
    service_name: z.string(),
    tenant: z.string().nullable().meta({ description: 'Null for queues, which belong to no tenant' }),
    project: projectReferenceShape,
    deployment: deploymentShape,
    dismissed: z.boolean(),
  })
  .meta({ id: 'FoundImpact', description: 'A finding about a deployment of any project' })

export const presentImpactFinding = (finding: DeploymentFinding): z.output<typeof impactFindingShape> => ({
  measure: finding.measure as Measure,
  fingerprint: finding.fingerprint || null,
  before: finding.before,
  after: finding.after,
  samples_before: finding.samplesBefore,
  samples_after: finding.samplesAfter,
  chance: finding.pValue,
  confidence: 1 - finding.pValue,
  test: testNames[finding.measure as Measure],
  began_at: finding.changePointAt,
  found_at: finding.foundAt,
  recovered_at: finding.recoveredAt,
})

export const presentFoundImpact = (
  finding: FindingView,
  baseUrl: string,
): z.output<typeof foundImpactShape> => {
  const { project, dismissal } = finding.deployment
  return {
    ...presentImpactFinding(finding),
    service_name: finding.serviceName,
    tenant: finding.tenant || null,
    project: presentProjectReference(project),
    deployment: presentDeployment(finding.deployment, baseUrl),
    dismissed: dismissal !== null,
  }
}
