import { createBroadcastMessage } from '@switchyard/db'
import { newBroadcastMessage } from '@switchyard/domain/broadcast'
import { created, endpoint, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import { broadcastMessageShape, presentBroadcastMessage } from '../presenters/broadcast-message.js'
import { broadcastInput, optionalMessageParameters } from './message-parameters.js'

export const createMessage = ({ database, clock, news }: Pick<Dependencies, 'database' | 'clock' | 'news'>) =>
  endpoint({
    summary: 'Create a broadcast message',
    replies: { 201: broadcastMessageShape },
    input: z.object({ ...optionalMessageParameters, message: text().nullable() }),
    async handle(given) {
      const now = clock()
      const message = await createBroadcastMessage(database, newBroadcastMessage(broadcastInput(given), now))
      await news.announce(message)
      return created(presentBroadcastMessage(message, now))
    },
  })
