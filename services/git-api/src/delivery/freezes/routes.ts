import { dayMs, systemClock } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import {
  endpoint,
  pageParameters,
  pageReply,
  parameterProblem,
  type Route,
  route,
  rowsOf,
  signedIn,
  time,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import { freezePeriodShape, presentFreezePeriod } from '../../shapes/freeze-period.js'
import { optional } from '../../shapes/parameters.js'
import { presentProjectReference, projectReferenceShape } from '../../shapes/project.js'
import { listedMs } from '../freeze-periods/freeze-periods.js'
import type { FreezeListDependencies } from './freezes.js'
import * as freezes from './freezes.js'
import type { Freeze, FreezingRun } from './store.js'

export const freezeRoutes = (deps: FreezeListDependencies): Route[] => [
  route('GET', '/freezes', signedIn, listFreezes(deps), { refusesUnknown: true }),
]

const freezeShape = z
  .object({
    project: projectReferenceShape,
    freeze_period: freezePeriodShape.nullable().meta({ description: 'Null: a rule created the freeze' }),
    impact_rule_run: z
      .object({
        id: z.int(),
        rule: z.object({ id: z.int(), name: z.string() }),
        environment: z.string().meta({ description: 'The frozen environment' }),
        deployment: z.object({ id: z.int(), iid: z.int() }),
      })
      .nullable()
      .meta({ description: 'Null: a freeze period created the freeze' }),
    starts_at: z.date(),
    ends_at: z.date().nullable().meta({ description: 'Null: until what the rule is about is resolved' }),
  })
  .meta({ id: 'Freeze', description: 'A period in which a project should not be deployed' })

const presentRun = ({ id, ruleId, rule, deployment }: FreezingRun) => ({
  id,
  rule: { id: ruleId, name: rule.name },
  environment: deployment.environment.name,
  deployment: { id: deployment.id, iid: deployment.iid },
})

const presentFreeze = ({ project, source, startsAt, endsAt }: Freeze): z.output<typeof freezeShape> => ({
  project: presentProjectReference(project),
  freeze_period: 'period' in source ? presentFreezePeriod(source.period) : null,
  impact_rule_run: 'run' in source ? presentRun(source.run) : null,
  starts_at: startsAt,
  ends_at: endsAt,
})

const listFreezes = (deps: FreezeListDependencies) =>
  endpoint({
    summary: 'List the deployment freezes of projects whose deployments the caller may read, newest first',
    replies: { 200: z.array(freezeShape) },
    input: z.object({
      ...pageParameters,
      ends_after: optional(time()).meta({ description: 'Within the last two days; default: a day ago' }),
      starts_before: optional(time()).meta({ description: 'At most a day ahead; default: now' }),
    }),
    async handle({ ends_after, starts_before, ...page }, caller: Caller, call) {
      const now = systemClock()
      const endsAfter = ends_after ?? new Date(now.getTime() - dayMs)
      const startsBefore = starts_before ?? now
      if (now.getTime() - endsAfter.getTime() > listedMs.before)
        throw parameterProblem('ends_after', 'is more than two days ago')
      if (startsBefore.getTime() - now.getTime() > listedMs.after)
        throw parameterProblem('starts_before', 'is more than a day ahead')
      const listed = { endsAfter, startsBefore, now }
      const found = await freezes.listFreezes(deps, caller, listed, rowsOf(page), call)
      return pageReply(found.freezes.map(presentFreeze), page, found.total, call)
    },
  })
