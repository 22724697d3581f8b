import { findSagaView, listActivityViews, listSagaNotes, type Readable } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import { endpoint, ok, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { presentSagaDetail } from '../presenters/saga.js'
import { sagaUrl } from './saga-url.js'
import { tenantParameter } from './search-parameters.js'

/** Bytes of a payload that are shown with its saga. */
const headBytesMax = 16 * 1024

/** `GET /sagas/:id` */
export const getSaga = (database: Readable) =>
  endpoint({
    input: z.object({ id: text(), ...tenantParameter }),
    handle: async ({ id, tenant }, _caller, call) => {
      const key = { tenant, sagaId: id }
      const [saga, activities, notes] = await Promise.all([
        findSagaView(database, tenant, id),
        listActivityViews(database, key, headBytesMax),
        listSagaNotes(database, tenant, id),
      ])
      if (!saga) throw notFound('Saga')
      return ok(presentSagaDetail(saga, activities, notes, sagaUrl(call, key)))
    },
  })
