import { listActiveBroadcastMessages } from '@switchyard/db'
import { endpoint, ok } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import { presentBanner } from '../presenters/broadcast-message.js'

/** The same for everybody, so caches in between may keep it; a change shows within a second. */
const cacheable = { 'Cache-Control': 'public, max-age=1', Vary: 'Accept-Encoding' }

export const listActiveMessages = ({ database, clock }: Dependencies) =>
  endpoint({
    input: z.object({}),
    async handle() {
      const messages = await listActiveBroadcastMessages(database, clock())
      return ok(messages.map(presentBanner), cacheable)
    },
  })
