import { preconditionFailed } from '@switchyard/domain'
import type { Call } from './endpoint.js'

/**
 * Refuses a request with `If-Unmodified-Since` about something that has changed since then. The header has whole
 * seconds; one that is no time counts as none.
 *
 * @throws DomainError precondition-failed
 */
export function requireUnmodifiedSince({ raw }: Pick<Call, 'raw'>, changedAt: Date): void {
  const sinceMs = Date.parse(raw.request.headers['if-unmodified-since'] ?? '')
  if (Math.floor(changedAt.getTime() / 1000) * 1000 > sinceMs) throw preconditionFailed()
}
