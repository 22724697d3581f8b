import { countSagasByKind, groupFailures, measureSagaDurations, type Readable } from '@switchyard/db'
import type { Clock } from '@switchyard/domain'
import { endpoint, ok, parameterProblem, text, time } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { presentStats, statsShape } from '../presenters/stats.js'
import { tenantParameter } from './search-parameters.js'

const dayMs = 24 * 60 * 60 * 1000

/** Groups of failures that are shown. */
const failureGroupsMax = 50

/** `GET /sagas/stats`: of the sagas created in a time, the last 24 hours unless it says otherwise. */
export const sagaStats = (database: Readable, clock: Clock) =>
  endpoint({
    summary: 'Figures of the sagas that were created in a time',
    replies: { 200: statsShape },
    input: z.object({
      ...tenantParameter,
      service_name: text().optional(),
      created_after: time().optional(),
      created_before: time().optional(),
    }),
    handle: async ({ tenant, service_name, created_after, created_before }) => {
      const to = created_before ?? clock()
      const from = created_after ?? new Date(to.getTime() - dayMs)
      if (from > to) throw parameterProblem('created_after', 'is after created_before')
      const range = { tenant, from, to, serviceName: service_name }
      const [counts, durations, failures] = await Promise.all([
        countSagasByKind(database, range),
        measureSagaDurations(database, range),
        groupFailures(database, range, failureGroupsMax),
      ])
      return ok(presentStats(range, { counts, durations, failures }))
    },
  })
