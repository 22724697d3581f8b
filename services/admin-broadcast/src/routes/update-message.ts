import { updateBroadcastMessage } from '@switchyard/db'
import { changedBroadcastFields } from '@switchyard/domain/broadcast'
import { endpoint, ok, rowId } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import { presentBroadcastMessage } from '../presenters/broadcast-message.js'
import { optionalMessageParameters } from './message-parameters.js'

export const updateMessage = ({ database, clock }: Dependencies) =>
  endpoint({
    input: z.object({ ...optionalMessageParameters, id: rowId() }),
    async handle({ id, message, starts_at: startsAt, ends_at: endsAt, color, font }) {
      const now = clock()
      const changes = changedBroadcastFields({ message, startsAt, endsAt, color, font })
      return ok(presentBroadcastMessage(await updateBroadcastMessage(database, id, changes, now), now))
    },
  })
