import { deleteBroadcastMessage } from '@switchyard/db'
import { endpoint, noContent, rowId } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'

export const deleteMessage = ({ database, news }: Pick<Dependencies, 'database' | 'news'>) =>
  endpoint({
    summary: 'Delete a broadcast message',
    replies: { 204: null },
    input: z.object({ id: rowId() }),
    async handle({ id }) {
      await deleteBroadcastMessage(database, id)
      await news.announce()
      return noContent()
    },
  })
