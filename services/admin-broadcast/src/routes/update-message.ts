import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, endpoint, preconditionOf, versioned } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import { broadcastMessageShape, presentBroadcastMessage } from '../presenters/broadcast-message.js'
import * as messages from '../use-cases/messages.js'
import { broadcastInput, messageId, optionalMessageParameters } from './message-parameters.js'

export const updateMessage = (deps: Dependencies) =>
  endpoint({
    summary: 'Change a broadcast message',
    replies: { 200: broadcastMessageShape },
    refusals: [412],
    input: z.object({ ...optionalMessageParameters, id: messageId() }),
    async handle({ id, ...given }, caller: Caller, call) {
      const author = auditAuthor(caller, call)
      const input = broadcastInput(given)
      const { message, now } = await messages.updateMessage(deps, id, input, author, preconditionOf(call))
      return versioned(presentBroadcastMessage(message, now), message)
    },
  })
