import { updateBroadcastMessage } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import { changedBroadcastFields } from '@switchyard/domain/broadcast'
import { auditAuthor, endpoint, ok } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import { broadcastMessageShape, presentBroadcastMessage } from '../presenters/broadcast-message.js'
import { auditedChange } from '../use-cases/audited-change.js'
import { broadcastInput, messageId, optionalMessageParameters } from './message-parameters.js'

export const updateMessage = ({ database, clock, news }: Pick<Dependencies, 'database' | 'clock' | 'news'>) =>
  endpoint({
    summary: 'Change a broadcast message',
    replies: { 200: broadcastMessageShape },
    input: z.object({ ...optionalMessageParameters, id: messageId() }),
    async handle({ id, ...given }, caller: Caller, call) {
      const now = clock()
      const changes = changedBroadcastFields(broadcastInput(given))
      const author = auditAuthor(caller, call)
      const message = await auditedChange({ database }, author, 'broadcast_message_changed', (transaction) =>
        updateBroadcastMessage(transaction, id, changes, now),
      )
      await news.announce(message)
      return ok(presentBroadcastMessage(message, now))
    },
  })
