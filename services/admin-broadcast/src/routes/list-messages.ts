import { endpoint, pageParameters, pageReply, rowsOf } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import { broadcastMessageShape, presentBroadcastMessage } from '../presenters/broadcast-message.js'
import * as messages from '../use-cases/messages.js'

export const listMessages = (deps: Dependencies) =>
  endpoint({
    summary: 'Broadcast messages, the newest first',
    replies: { 200: z.array(broadcastMessageShape) },
    input: z.object(pageParameters),
    async handle(page, _caller, call) {
      const found = await messages.listMessages(deps, rowsOf(page))
      const items = found.messages.map((message) => presentBroadcastMessage(message, found.now))
      return pageReply(items, page, found.total, call)
    },
  })
