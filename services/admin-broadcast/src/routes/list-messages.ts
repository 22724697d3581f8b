import { listBroadcastMessages } from '@switchyard/db'
import { endpoint, pageParameters, pageReply, rowsOf } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import { broadcastMessageShape, presentBroadcastMessage } from '../presenters/broadcast-message.js'

export const listMessages = ({ database, clock }: Pick<Dependencies, 'database' | 'clock'>) =>
  endpoint({
    summary: 'Broadcast messages, the newest first',
    replies: { 200: z.array(broadcastMessageShape) },
    input: z.object(pageParameters),
    async handle(page, _caller, call) {
      const { messages, total } = await listBroadcastMessages(database, rowsOf(page))
      const now = clock()
      return pageReply(
        messages.map((message) => presentBroadcastMessage(message, now)),
        page,
        total,
        call,
      )
    },
  })
