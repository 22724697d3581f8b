import { createBroadcastMessage } from '@switchyard/db'
import { newBroadcastMessage } from '@switchyard/domain/broadcast'
import { created, endpoint, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import { presentBroadcastMessage } from '../presenters/broadcast-message.js'
import { optionalMessageParameters } from './message-parameters.js'

export const createMessage = ({ database, clock }: Dependencies) =>
  endpoint({
    input: z.object({ ...optionalMessageParameters, message: text().nullable() }),
    async handle({ message, starts_at: startsAt, ends_at: endsAt, color, font }) {
      const now = clock()
      const fields = newBroadcastMessage({ message, startsAt, endsAt, color, font }, now)
      return created(presentBroadcastMessage(await createBroadcastMessage(database, fields), now))
    },
  })
