import { deleteBroadcastMessage, getBroadcastMessage } from '@switchyard/db'
import { preconditionFailed } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, endpoint, noContent } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import { auditedChange } from '../use-cases/audited-change.js'
import { messageId } from './message-parameters.js'

export const deleteMessage = ({ database, news }: Pick<Dependencies, 'database' | 'news'>) =>
  endpoint({
    summary: 'Delete a broadcast message',
    replies: { 204: null },
    refusals: [412],
    input: z.object({ id: messageId() }),
    async handle({ id }, caller: Caller, call) {
      const author = auditAuthor(caller, call)
      await auditedChange({ database }, author, 'broadcast_message_deleted', async (transaction) => {
        const message = await getBroadcastMessage(transaction, id)
        refuseIfChanged(message.updatedAt, call.raw.request.headers['if-unmodified-since'])
        await deleteBroadcastMessage(transaction, id)
        return message
      })
      await news.announce()
      return noContent()
    },
  })

/** The header has whole seconds. A malformed header is ignored. */
function refuseIfChanged(changedAt: Date, unmodifiedSince: string | undefined): void {
  const sinceMs = Date.parse(unmodifiedSince ?? '')
  if (Math.floor(changedAt.getTime() / 1000) * 1000 > sinceMs) throw preconditionFailed()
}
