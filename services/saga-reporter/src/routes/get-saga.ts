import { type Database, findSaga, listSagaActivities } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import { endpoint, filledText, ok, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { presentSagaDetail } from '../presenters/saga.js'
import { defaultTenant } from '../rpc/report-metadata.js'

/** Bytes of a payload that are shown with its saga. */
const headBytesMax = 16 * 1024

/** `GET /sagas/:id` */
export const getSaga = (database: Database) =>
  endpoint({
    input: z.object({ id: text(), tenant: filledText().default(defaultTenant) }),
    handle: async ({ id, tenant }) => {
      const [saga, activities] = await Promise.all([
        findSaga(database, tenant, id),
        listSagaActivities(database, tenant, id, headBytesMax),
      ])
      if (!saga) throw notFound('Saga')
      return ok(presentSagaDetail(saga, activities))
    },
  })
