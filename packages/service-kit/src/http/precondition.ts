import { type Precondition, preconditionFailed, requireUnmodifiedSince } from '@switchyard/domain'
import type { Call } from './endpoint.js'

/** Returns the version of a resource, which its ETag ends with. */
export const versionOf = (updatedAt: Date): string => updatedAt.getTime().toString(36)

/**
 * Returns the version in a tag such as `W/"1f-Q2hhbmdl.mf3k2a1c"`. Another tag results in a text that equals
 * no version.
 */
const versionIn = (tag: string) => tag.slice(tag.lastIndexOf('.') + 1)

const quoted = /"([^"]*)"/g

/**
 * Returns the condition on the resource that the headers `If-Match` or `If-Unmodified-Since` of a change set;
 * undefined when there is none.
 *
 * Only the version in a tag is compared, because the rest of an answer may change without a change of the
 * resource: a project gets a push, a message begins. So weak tags are accepted as well; compression on the
 * way turns strong tags into weak ones.
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
 * Returns the header `If-Unmodified-Since` as milliseconds since 1970, in whole seconds; NaN without a valid
 * time.
 */
export const unmodifiedSinceMs = ({ raw }: Pick<Call, 'raw'>): number =>
  Date.parse(raw.request.headers['if-unmodified-since'] ?? '')
