import type { Call } from '@switchyard/service-kit/http'
import type { GitSessions } from '../../git-sessions.js'
import type { ProjectCall } from '../../guards.js'
import type { Exchange } from '../../use-cases/git-exchanges.js'

/** Does the work when it is the sender's turn; the fetches and pushes of a user, or of an address, are counted together. */
export function inSession(
  sessions: GitSessions,
  { caller }: ProjectCall,
  { raw, signal }: Call,
  work: (client: Exchange['client']) => Promise<void>,
): Promise<void> {
  const sender = caller ? `user ${caller.user.id}` : `address ${raw.request.ip}`
  const client = { protocol: raw.request.get('Git-Protocol'), idleMs: sessions.idleMs, signal }
  return sessions.run(sender, signal, () => work(client))
}
