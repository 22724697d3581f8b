import {
  findResolutionNote,
  findSagaView,
  listActivityViews,
  listSagaNotes,
  type Readable,
} from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import { type Call, endpoint, ok, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { presentSagaDetail, sagaDetailShape } from '../presenters/saga.js'
import { sagaUrl } from './saga-url.js'
import { tenantParameter } from './search-parameters.js'

/** Bytes of a payload that are shown with its saga. */
const headBytesMax = 16 * 1024

/** `GET /sagas/:id` */
export const getSaga = (database: Readable) =>
  endpoint({
    summary: 'One saga with all that belongs to it',
    replies: { 200: sagaDetailShape },
    input: z.object({ id: text(), ...tenantParameter }),
    handle: async ({ id, tenant }, _caller, call) =>
      ok(await readSagaDetail(database, { tenant, sagaId: id }, call)),
  })

/**
 * A saga with all that belongs to it.
 *
 * @throws DomainError not-found
 */
export async function readSagaDetail(
  database: Readable,
  key: { tenant: string; sagaId: string },
  call: Pick<Call, 'baseUrl'>,
) {
  const [saga, activities, notes] = await Promise.all([
    findSagaView(database, key.tenant, key.sagaId),
    listActivityViews(database, key, headBytesMax),
    listSagaNotes(database, key.tenant, key.sagaId),
  ])
  if (!saga) throw notFound('Saga')
  const resolutionNote = saga.resolvedAt && (await findResolutionNote(database, key))
  return presentSagaDetail({ saga, activities, notes, resolutionNote }, sagaUrl(call, key))
}
