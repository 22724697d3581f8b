import { type Precondition, preconditionFailed, requireUnmodifiedSince } from '@switchyard/domain'
import type { Call } from './endpoint.js'

/** The version of a resource, as the end of its ETag. */
export const versionOf = (updatedAt: Date): string => updatedAt.getTime().toString(36)

/**
 * The version in a tag such as `W/"1f-Q2hhbmdl.mf3k2a1c"`. What is no tag of ours gives a text that no
 * version is.
 */
const versionIn = (tag: string) => tag.slice(tag.lastIndexOf('.') + 1)

const quoted = /"([^"]*)"/g

/**
 * What the headers `If-Match` or `If-Unmodified-Since` of a change require of the resource; undefined when
 * they require nothing.
 *
 * Only the version in a tag is compared, because the rest of an answer may change without a change of the
 * resource: a project gets a push, a message begins. So a weak tag, which compression on the way makes of a
 * strong one, is as good as a strong one.
 */
export function preconditionOf({ raw }: Pick<Call, 'raw'>): Precondition | undefined {
  const { 'if-match': match, 'if-unmodified-since': since } = raw.request.headers
  if (match !== undefined && match.trim() !== '*') {
    const versions = [...match.matchAll(quoted)].map(([, tag = '']) => versionIn(tag))
    return (updatedAt) => {
      if (!versions.includes(versionOf(updatedAt))) throw preconditionFailed()
    }
  }
  if (match !== undefined || since === undefined) return undefined
  return (updatedAt) => requireUnmodifiedSince(updatedAt, Date.parse(since))
}

/**
 * The header `If-Unmodified-Since` as milliseconds since 1970, in whole seconds; NaN without a valid time.
 */
export const unmodifiedSinceMs = ({ raw }: Pick<Call, 'raw'>): number =>
  Date.parse(raw.request.headers['if-unmodified-since'] ?? '')
