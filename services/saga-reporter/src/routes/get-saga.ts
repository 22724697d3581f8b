import type { Readable } from '@switchyard/db'
import { endpoint, ok, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { presentSagaDetail, sagaDetailShape } from '../presenters/saga.js'
import { sagaUrl } from '../presenters/saga-url.js'
import { getSagaDetail } from '../use-cases/get-saga.js'
import { tenantParameter } from '../wire/search-parameters.js'

/** `GET /sagas/:id` */
export const getSaga = (database: Readable) =>
  endpoint({
    summary: 'One saga with all that belongs to it',
    replies: { 200: sagaDetailShape },
    input: z.object({ id: text(), ...tenantParameter }),
    handle: async ({ id, tenant }, _caller, call) => {
      const key = { tenant, sagaId: id }
      return ok(presentSagaDetail(await getSagaDetail(database, key), sagaUrl(call, key)))
    },
  })
