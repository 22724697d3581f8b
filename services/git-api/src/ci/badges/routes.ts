import type { Database } from '@switchyard/db'
import { decimal, endpoint, flag, type Guard, type Route, route, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import { type Badge, badgeParameters, colorOfUnknown, sendBadge } from '../../shapes/badge.js'
import { optionalText, pathRest } from '../../shapes/parameters.js'
import * as badges from './badges.js'

const statusColors = new Map([
  ['success', '#4c1'],
  ['failed', '#e05d44'],
  ['running', '#dfb317'],
  ['pending', '#dfb317'],
])

/** Returns text and color of a pipeline badge, as GitLab does. @param status null: there is no pipeline */
const presentBadgeStatus = (status: string | null): Pick<Badge, 'value' | 'color'> => ({
  value: status === 'success' ? 'passed' : (status ?? 'unknown'),
  color: statusColors.get(status ?? '') ?? colorOfUnknown,
})

/** The lowest coverage in per cent of each color. */
interface CoverageLimits {
  good: number
  acceptable: number
  medium: number
}

/**
 * Returns text and color of a coverage badge, as GitLab does. @param coverage per cent; null: there is none
 */
function presentBadgeCoverage(
  coverage: number | null,
  { good, acceptable, medium }: CoverageLimits,
): Pick<Badge, 'value' | 'color'> {
  if (coverage === null) return { value: 'unknown', color: colorOfUnknown }
  const value = `${coverage.toFixed(2)}%`
  if (coverage >= good) return { value, color: '#4c1' }
  if (coverage >= acceptable) return { value, color: '#a3c51c' }
  return { value, color: coverage >= medium ? '#dfb317' : '#e05d44' }
}

/** Badge images. Everybody who may read the code of the project sees them, even without a token. */
export function badgeRoutes({ database, guards }: ProjectResourceDependencies): Route[] {
  const guard: Guard<ProjectCall> = (call) =>
    guards.authorizeProject(call, 'read_code', `${call.params.namespace}/${call.params.project}`)
  const path = '/:namespace/:project/badges/*ref'
  const options = { outsideApi: true }
  return [
    route('GET', `${path}/pipeline.svg`, guard, pipelineBadge(database), options),
    route('GET', `${path}/coverage.svg`, guard, coverageBadge(database), options),
  ]
}

const parameters = { ref: pathRest(), ...badgeParameters }

const pipelineBadge = (database: Database) =>
  endpoint({
    input: z.object({ ...parameters, ignore_skipped: flag().default(false) }),
    async handle(
      { ref, ignore_skipped, key_text = 'pipeline', key_width, style },
      access: ProjectCall,
      call,
    ) {
      const status = await badges.findBadgeStatus(database, access, ref, ignore_skipped)
      return sendBadge(call, { key: key_text, keyWidth: key_width, style, ...presentBadgeStatus(status) })
    },
  })

const perCent = (preset: number) => decimal(0, 100).default(preset)

const coverageBadge = (database: Database) =>
  endpoint({
    input: z.object({
      ...parameters,
      job: optionalText(text()),
      min_good: perCent(95),
      min_acceptable: perCent(90),
      min_medium: perCent(75),
    }),
    async handle({ ref, job, key_text = 'coverage', key_width, style, ...given }, access: ProjectCall, call) {
      const limits = { good: given.min_good, acceptable: given.min_acceptable, medium: given.min_medium }
      const coverage = await badges.findBadgeCoverage(database, access, ref, job)
      const said = presentBadgeCoverage(coverage, limits)
      return sendBadge(call, { key: key_text, keyWidth: key_width, style, ...said })
    },
  })
