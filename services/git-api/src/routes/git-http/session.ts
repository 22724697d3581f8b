import type { Caller } from '@switchyard/domain/access'
import type { GitSession } from '@switchyard/git-storage'
import type { Call } from '@switchyard/service-kit/http'

/** Whose fetches and pushes are counted together. */
export const senderOf = (caller: Caller | null, { raw }: Call): string =>
  caller ? `user ${caller.user.id}` : `address ${raw.request.ip}`

/** What git's answer depends on besides the repository. */
export const sessionOf = (path: string, idleMs: number, { raw, signal }: Call): GitSession => ({
  path,
  protocol: raw.request.get('Git-Protocol'),
  idleMs,
  signal,
})
