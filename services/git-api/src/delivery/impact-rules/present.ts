import { type Measure, measures } from '@switchyard/delivery-impact'
import { type BroadcastTheme, broadcastThemes } from '@switchyard/domain/broadcast'
import { type EnvironmentTier, environmentTiers } from '@switchyard/domain/deployment'
import { oneOf } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { RuleView } from './store.js'

export const impactRuleShape = z
  .object({
    id: z.int(),
    name: z.string(),
    services: z.array(z.string()).meta({ description: 'Empty: all' }),
    measures: z.array(oneOf(measures)).meta({ description: 'Empty: all' }),
    environments: z.array(z.string()),
    tiers: z
      .array(oneOf(environmentTiers))
      .meta({ description: 'An environment fits by its name or by its tier; without both, each fits' }),
    ratio_min: z.number().nullable(),
    confidence_min: z.number().nullable(),
    freeze: z.boolean(),
    banner_message: z.string().nullable().meta({ description: 'A Markdown template; null: no banner' }),
    banner_target_path: z
      .string()
      .nullable()
      .meta({ description: 'null: the pages of the project in the console' }),
    banner_theme: oneOf(broadcastThemes).nullable(),
    banner_dismissable: z.boolean().nullable(),
    webhook: z.boolean(),
    dry_run: z.boolean(),
    in_force: z.boolean().meta({
      description:
        'Whether a freeze or a banner that the rule created is active, even when the rule is a dry run by now',
    }),
    created_at: z.date(),
    updated_at: z.date(),
  })
  .meta({
    id: 'ImpactRule',
    description: 'A rule that defines the actions when services become worse with a deployment',
  })

export const presentRule = ({ banner, ...rule }: RuleView): z.output<typeof impactRuleShape> => ({
  id: rule.id,
  name: rule.name,
  services: rule.services,
  measures: rule.measures as Measure[],
  environments: rule.environments,
  tiers: rule.tiers as EnvironmentTier[],
  ratio_min: rule.ratioMin,
  confidence_min: rule.confidenceMin,
  freeze: rule.freezes,
  banner_message: banner?.message ?? null,
  banner_target_path: banner?.targetPath ?? null,
  banner_theme: banner ? (banner.theme as BroadcastTheme) : null,
  banner_dismissable: banner?.dismissable ?? null,
  webhook: rule.notifiesWebhooks,
  dry_run: rule.dryRun,
  in_force: rule.inForce,
  created_at: rule.createdAt,
  updated_at: rule.updatedAt,
})
