import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, endpoint, ok, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { presentSagaDetail, sagaDetailShape } from '../presenters/saga.js'
import { sagaUrl } from '../presenters/saga-url.js'
import type { ResolveSaga } from '../use-cases/resolve-saga.js'
import { tenantParameter } from '../wire/search-parameters.js'
import { noteText } from './create-note.js'

/** `POST /sagas/:id/resolve` */
export const resolveSaga = (resolve: ResolveSaga) =>
  endpoint({
    summary: 'Say that an operator has settled a saga',
    replies: { 200: sagaDetailShape },
    refusals: [409],
    input: z.object({ id: text(), ...tenantParameter, note: noteText() }),
    handle: async ({ id, tenant, note }, caller: Caller, call) => {
      const key = { tenant, sagaId: id }
      const audit = auditAuthor(caller, call)
      const detail = await resolve({ ...key, author: caller.user.username, note, audit })
      return ok(presentSagaDetail(detail, sagaUrl(call, key)))
    },
  })
