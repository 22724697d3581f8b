import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, created, endpoint, proseCharsMax, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import { broadcastMessageShape, presentBroadcastMessage } from '../presenters/broadcast-message.js'
import * as messages from '../use-cases/messages.js'
import { broadcastInput, optionalMessageParameters } from './message-parameters.js'

export const createMessage = (deps: Dependencies) =>
  endpoint({
    summary: 'Create a broadcast message',
    replies: { 201: broadcastMessageShape },
    input: z.object({ ...optionalMessageParameters, message: text(proseCharsMax).nullable() }),
    async handle(given, caller: Caller, call) {
      const author = auditAuthor(caller, call)
      const { message, now } = await messages.createMessage(deps, broadcastInput(given), author)
      return created(presentBroadcastMessage(message, now))
    },
  })
