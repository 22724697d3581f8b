import type { Caller } from '@switchyard/domain/access'
import type { Call } from './endpoint.js'

/** Who sends a request and from where, as the audit log notes it. */
export const auditAuthor = ({ user, token }: Caller, { requestId, raw }: Call) => ({
  authorId: user.id,
  authorName: user.name,
  tokenId: token.id,
  requestId,
  ipAddress: raw.request.ip ?? null,
})
