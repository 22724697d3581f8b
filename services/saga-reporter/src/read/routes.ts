import type { Pooled } from '@switchyard/db'
import { endpoint, ok, type Route, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { sagaUrl } from '../shapes/activity.js'
import { readActivityCursor } from '../shapes/paging.js'
import { tenantParameter } from '../shapes/parameters.js'
import { presentSagaDetail, sagaDetailShape } from '../shapes/saga.js'
import { sagaReader, tenantRoute } from '../tenants.js'
import * as read from './read.js'

export const sagaRoutes = (database: Pooled): Route[] => [
  tenantRoute('GET', '/sagas/:id', sagaReader, getSaga(database)),
]

const getSaga = (database: Pooled) =>
  endpoint({
    summary: 'Get a saga with its related data',
    replies: { 200: sagaDetailShape },
    input: z.object({
      id: text(),
      ...tenantParameter,
      activities_cursor: text().optional().meta({
        description: '`next_activities_cursor` of the previous response: the next 1,000 activities',
      }),
    }),
    handle: async ({ id, tenant, activities_cursor: cursor }, _caller, call) => {
      const key = { tenant, sagaId: id }
      const after = cursor ? readActivityCursor(cursor, 'activities_cursor') : null
      return ok(presentSagaDetail(await read.getSagaDetail(database, key, after), sagaUrl(call, key)))
    },
  })
