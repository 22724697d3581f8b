import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, endpoint, noContent, preconditionOf } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import * as messages from '../use-cases/messages.js'
import { messageId } from './message-parameters.js'

export const deleteMessage = (deps: Dependencies) =>
  endpoint({
    summary: 'Delete a broadcast message',
    replies: { 204: null },
    refusals: [412],
    input: z.object({ id: messageId() }),
    async handle({ id }, caller: Caller, call) {
      await messages.deleteMessage(deps, id, auditAuthor(caller, call), preconditionOf(call))
      return noContent()
    },
  })
