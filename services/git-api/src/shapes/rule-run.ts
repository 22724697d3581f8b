import { type Measure, measures } from '@switchyard/delivery-impact'
import { growthOf } from '@switchyard/domain/deployment'
import { oneOf } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { RunView } from '../delivery/impact-rules/store.js'
import { presentUser, userShape } from './user.js'

const endReasons = ['reverted', 'dismissed', 'deployed'] as const

export const ruleRunShape = z
  .object({
    id: z.int(),
    rule: z.object({ id: z.int(), name: z.string() }),
    deployment: z.object({ id: z.int(), iid: z.int() }),
    environment: z.string(),
    dry_run: z.boolean().meta({ description: 'Nothing was changed' }),
    freeze: z.boolean(),
    banner_message: z.string().nullable().meta({ description: 'The text as it is displayed' }),
    banner_target_path: z.string().nullable(),
    webhook: z.boolean(),
    findings: z
      .array(
        z.object({
          service_name: z.string(),
          tenant: z.string(),
          measure: oneOf(measures),
          fingerprint: z.string().nullable(),
          before: z.number().nullable(),
          after: z.number(),
          ratio: z.number().nullable().meta({ description: 'null: there was no data before' }),
          confidence: z.number(),
        }),
      )
      .meta({ description: 'The findings that triggered the rule' }),
    in_force: z.boolean().meta({ description: 'Whether its freeze or banner is active' }),
    applied_at: z.date(),
    ended_at: z.date().nullable(),
    end_reason: oneOf(endReasons)
      .nullable()
      .meta({ description: '`deployed`: a later deployment to the environment succeeded' }),
    ended_by: userShape.nullable().meta({ description: 'The user who reverted it' }),
  })
  .meta({
    id: 'ImpactRuleRun',
    description: 'A run of an impact rule for a deployment; a dry run only records what it would have done',
  })

export const presentRun = (run: RunView, baseUrl: string): z.output<typeof ruleRunShape> => ({
  id: run.id,
  rule: { id: run.ruleId, name: run.ruleName },
  deployment: { id: run.deploymentId, iid: run.deploymentIid },
  environment: run.environment,
  dry_run: run.dryRun,
  freeze: run.freezes,
  banner_message: run.banner?.message ?? null,
  banner_target_path: run.banner?.targetPath ?? null,
  webhook: run.notifiesWebhooks,
  findings: run.findings.map((finding) => ({
    service_name: finding.serviceName,
    tenant: finding.tenant,
    measure: finding.measure as Measure,
    fingerprint: finding.fingerprint || null,
    before: finding.before,
    after: finding.after,
    ratio: Number.isFinite(growthOf(finding)) ? growthOf(finding) : null,
    confidence: 1 - finding.pValue,
  })),
  in_force: run.inForce,
  applied_at: run.appliedAt,
  ended_at: run.endedAt,
  end_reason: run.endReason as (typeof endReasons)[number] | null,
  ended_by: run.endedBy && presentUser(run.endedBy, baseUrl),
})
