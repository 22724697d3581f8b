import type { Readable } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import { endpoint, ok, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { sagaDetailShape } from '../presenters/saga.js'
import type { ResolveSaga } from '../use-cases/resolve-saga.js'
import { noteText } from './create-note.js'
import { readSagaDetail } from './get-saga.js'
import { tenantParameter } from './search-parameters.js'

/** `POST /sagas/:id/resolve` */
export const resolveSaga = (resolve: ResolveSaga, database: Readable) =>
  endpoint({
    summary: 'Say that an operator has settled a saga',
    replies: { 200: sagaDetailShape },
    refusals: [409],
    input: z.object({ id: text(), ...tenantParameter, note: noteText() }),
    handle: async ({ id, tenant, note }, { user }: Caller, call) => {
      await resolve({ tenant, sagaId: id, author: user.username, note })
      return ok(await readSagaDetail(database, { tenant, sagaId: id }, call))
    },
  })
