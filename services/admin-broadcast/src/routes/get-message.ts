import { getBroadcastMessage } from '@switchyard/db'
import { endpoint, ok } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import { broadcastMessageShape, presentBroadcastMessage } from '../presenters/broadcast-message.js'
import { messageId } from './message-parameters.js'

export const getMessage = ({ database, clock }: Pick<Dependencies, 'database' | 'clock'>) =>
  endpoint({
    summary: 'One broadcast message',
    replies: { 200: broadcastMessageShape },
    input: z.object({ id: messageId() }),
    async handle({ id }) {
      return ok(presentBroadcastMessage(await getBroadcastMessage(database, id), clock()))
    },
  })
