import type { Caller } from '@switchyard/domain/access'
import { endpoint, ok, rowId } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { presentToken, tokenShape } from '../../presenters/token.js'
import { getTokenFor } from '../../use-cases/revoke-token.js'

/** `GET /personal_access_tokens/:id`: any for administrators, their own for everybody else. */
export const getToken = (deps: Pick<Dependencies, 'database'>) =>
  endpoint({
    summary: 'One token: any for administrators, an own one for everybody else',
    replies: { 200: tokenShape },
    input: z.object({ id: rowId() }),
    handle: async ({ id }, caller: Caller) => ok(presentToken(await getTokenFor(deps, caller, id))),
  })
