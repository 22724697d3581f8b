import type { Readable } from '@switchyard/db'
import type { Clock } from '@switchyard/domain'
import { endpoint, ok, parameterProblem, text, time } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { presentStats, statsShape } from '../presenters/stats.js'
import { measureSagas } from '../use-cases/measure-sagas.js'
import { tenantParameter } from '../wire/search-parameters.js'

const dayMs = 24 * 60 * 60 * 1000

/** `GET /sagas/stats`: figures of the sagas created in a range of time, by default the last 24 hours. */
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
      return ok(presentStats(range, await measureSagas(database, range)))
    },
  })
