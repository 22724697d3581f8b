import {
  type Call,
  decimal,
  endpoint,
  flag,
  type Guard,
  integer,
  type Route,
  route,
  streamed,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import { type Badge, presentBadge, presentBadgeCoverage, presentBadgeStatus } from '../presenters/badge.js'
import { findBadgeCoverage, findBadgeStatus } from '../use-cases/badges.js'
import { optional, optionalText, pathRest } from '../wire/parameters.js'

/** Images for pages: everybody who may read the code of the project sees them, also without a token. */
export function badgeRoutes(deps: Dependencies): Route[] {
  const guard: Guard<ProjectCall> = (call) =>
    deps.guards.getProjectFor(call, 'read_code', `${call.params.namespace}/${call.params.project}`)
  const badges = '/:namespace/:project/badges/*ref'
  const options = { outsideApi: true }
  return [
    route('GET', `${badges}/pipeline.svg`, guard, pipelineBadge(deps), options),
    route('GET', `${badges}/coverage.svg`, guard, coverageBadge(deps), options),
  ]
}

const keyLengthMax = 25
const keyWidthMax = 512

const badgeParameters = {
  ref: pathRest(),
  key_text: optionalText(text(keyLengthMax)),
  key_width: optional(
    integer().refine((width) => width >= 1 && width <= keyWidthMax, { error: 'does not have a valid value' }),
  ),
  style: z.enum(['flat', 'flat-square']).default('flat'),
}

const pipelineBadge = (deps: Dependencies) =>
  endpoint({
    input: z.object({ ...badgeParameters, ignore_skipped: flag().default(false) }),
    async handle(
      { ref, ignore_skipped, key_text = 'pipeline', key_width, style },
      access: ProjectCall,
      call,
    ) {
      const status = await findBadgeStatus(deps, access, ref, ignore_skipped)
      return sendBadge(call, { key: key_text, keyWidth: key_width, style, ...presentBadgeStatus(status) })
    },
  })

const perCent = (preset: number) =>
  decimal()
    .refine((value) => value >= 0 && value <= 100, { error: 'does not have a valid value' })
    .default(preset)

const coverageBadge = (deps: Dependencies) =>
  endpoint({
    input: z.object({
      ...badgeParameters,
      job: optionalText(text()),
      min_good: perCent(95),
      min_acceptable: perCent(90),
      min_medium: perCent(75),
    }),
    async handle({ ref, job, key_text = 'coverage', key_width, style, ...given }, access: ProjectCall, call) {
      const limits = { good: given.min_good, acceptable: given.min_acceptable, medium: given.min_medium }
      const coverage = await findBadgeCoverage(deps, access, ref, job)
      const said = presentBadgeCoverage(coverage, limits)
      return sendBadge(call, { key: key_text, keyWidth: key_width, style, ...said })
    },
  })

/** Pages of other servers show the badge, so no cache between may keep an old one. */
function sendBadge({ raw: { response } }: Call, badge: Badge): typeof streamed {
  response.set({
    'Cache-Control': 'private, no-store, no-cache, must-revalidate, max-age=0',
  })
  response.type('image/svg+xml').send(Buffer.from(presentBadge(badge)))
  return streamed
}
