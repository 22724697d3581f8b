import { type Database, listSagas as findSagas } from '@switchyard/db'
import { sagaStatuses } from '@switchyard/domain/saga'
import { endpoint, filledText, pageParameters, pageReply, rowsOf, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { presentSaga } from '../presenters/saga.js'
import { defaultTenant } from '../rpc/report-metadata.js'

/** `GET /sagas`: those with the newest events first. */
export const listSagas = (database: Database) =>
  endpoint({
    input: z.object({
      ...pageParameters,
      tenant: filledText().default(defaultTenant),
      service_name: text().optional(),
      status: z.enum(sagaStatuses).optional(),
    }),
    handle: async ({ tenant, service_name, status, ...page }, _caller, call) => {
      const filter = { tenant, serviceName: service_name, status }
      const { sagas, total } = await findSagas(database, filter, rowsOf(page))
      return pageReply(sagas.map(presentSaga), page, total, call)
    },
  })
