import { revokeToken } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import { endpoint, noContent } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'

/** `DELETE /personal_access_tokens/self`: refused everywhere within a second. */
export const revokeOwnToken = ({ database }: Dependencies) =>
  endpoint({
    input: z.object({}),
    async handle(_input, caller: Caller) {
      await revokeToken(database, caller.token.id)
      return noContent()
    },
  })
