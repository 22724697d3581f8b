import { integer } from '@switchyard/config'
import { listedEntries } from '@switchyard/domain'
import { environmentTiers } from '@switchyard/domain/deployment'
import { z } from 'zod'

const tiers = () =>
  z
    .string()
    .transform(listedEntries)
    .pipe(z.array(z.enum(environmentTiers, { error: `must be a list of ${environmentTiers.join(', ')}` })))

export const impactFields = {
  DEPLOYMENT_IMPACT_TIERS: tiers()
    .default(['production'])
    .describe(
      'Tiers of the environments whose deployments are [compared](delivery-loop.md) with the failures of their services, separated by commas; empty: none',
    ),
  DEPLOYMENT_IMPACT_WINDOW_MINUTES: integer(5, 1440)
    .default(60)
    .describe('Length of the windows before and after a deployment that are compared'),
  DEPLOYMENT_IMPACT_SAGAS_MIN: integer(1, 100_000)
    .default(20)
    .describe('Sagas of a service after a deployment from which on its rates are judged'),
}

type ImpactConfig = z.output<z.ZodObject<typeof impactFields>>

export interface ImpactSettings {
  tiers: readonly string[]
  windowMinutes: number
  sagasMin: number
  /** Time after which an unfinished saga counts as stuck. */
  stuckAfterMs: number
}

export const impactSettingsOf = (
  config: ImpactConfig & { SAGA_STUCK_AFTER_SECONDS: number },
): ImpactSettings => ({
  tiers: config.DEPLOYMENT_IMPACT_TIERS,
  windowMinutes: config.DEPLOYMENT_IMPACT_WINDOW_MINUTES,
  sagasMin: config.DEPLOYMENT_IMPACT_SAGAS_MIN,
  stuckAfterMs: config.SAGA_STUCK_AFTER_SECONDS * 1000,
})
