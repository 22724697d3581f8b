export const postedStates = ['pending', 'running', 'success', 'failed', 'canceled', 'skipped'] as const
export type PostedState = (typeof postedStates)[number]

/** What a post says besides where it belongs. Undefined: not sent. */
export interface StatusPost {
  state: PostedState
  targetUrl?: string | undefined
  description?: string | undefined
  coverage?: number | undefined
}

/** The part of a stored status that a post changes. */
export interface StatusFields {
  status: PostedState
  targetUrl: string | null
  description: string | null
  coverage: number | null
  startedAt: Date | null
  finishedAt: Date | null
}

/** States of a record that posts still change. */
export const activeStates: readonly string[] = ['pending', 'running'] satisfies PostedState[]

/** Whether posts still change a record; a finished one is final. */
export const isActive = (state: string): boolean => activeStates.includes(state)

/**
 * What a post leaves behind. The state a record already has is no mistake; a running one may go back to
 * the queue. Fields that are not sent, or blank, keep what they had.
 *
 * @param current the active record the post belongs to; null makes a new one
 */
export function applyPost(current: StatusFields | null, post: StatusPost, now: Date): StatusFields {
  return {
    status: post.state,
    targetUrl: filled(post.targetUrl) ?? current?.targetUrl ?? null,
    description: filled(post.description) ?? current?.description ?? null,
    coverage: post.coverage ?? current?.coverage ?? null,
    startedAt: startedAt(current, post.state, now),
    finishedAt: isActive(post.state) ? null : now,
  }
}

const filled = (text: string | undefined) => (text?.trim() ? text : undefined)

function startedAt(current: StatusFields | null, state: PostedState, now: Date): Date | null {
  if (state === 'pending') return null
  if (state === 'running') return current?.startedAt ?? now
  return current?.startedAt ?? null
}
