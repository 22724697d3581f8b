import { createBroadcastMessage } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import { newBroadcastMessage } from '@switchyard/domain/broadcast'
import { auditAuthor, created, endpoint, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import { broadcastMessageShape, presentBroadcastMessage } from '../presenters/broadcast-message.js'
import { auditedChange } from '../use-cases/audited-change.js'
import { broadcastInput, optionalMessageParameters } from './message-parameters.js'

export const createMessage = ({ database, clock, news }: Pick<Dependencies, 'database' | 'clock' | 'news'>) =>
  endpoint({
    summary: 'Create a broadcast message',
    replies: { 201: broadcastMessageShape },
    input: z.object({ ...optionalMessageParameters, message: text().nullable() }),
    async handle(given, caller: Caller, call) {
      const now = clock()
      const fields = newBroadcastMessage(broadcastInput(given), now)
      const author = auditAuthor(caller, call)
      const message = await auditedChange({ database }, author, 'broadcast_message_created', (transaction) =>
        createBroadcastMessage(transaction, fields),
      )
      await news.announce(message)
      return created(presentBroadcastMessage(message, now))
    },
  })
