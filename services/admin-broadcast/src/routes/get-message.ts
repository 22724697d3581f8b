import { endpoint, versioned } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import { broadcastMessageShape, presentBroadcastMessage } from '../presenters/broadcast-message.js'
import * as messages from '../use-cases/messages.js'
import { messageId } from './message-parameters.js'

export const getMessage = (deps: Dependencies) =>
  endpoint({
    summary: 'One broadcast message',
    replies: { 200: broadcastMessageShape },
    input: z.object({ id: messageId() }),
    async handle({ id }) {
      const { message, now } = await messages.getMessage(deps, id)
      return versioned(presentBroadcastMessage(message, now), message)
    },
  })
