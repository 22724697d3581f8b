export const postedStates = ['pending', 'running', 'success', 'failed', 'canceled', 'skipped'] as const
export type PostedState = (typeof postedStates)[number]

/** Where to read more about a status: the page of a report, a file that the build made. */
export interface StatusLink {
  name: string
  url: string
}

/** Links of each kind that a status has at most. */
export const statusLinksMax = 20

/** The stage of a status whose posts name none, as in GitLab. */
const defaultStage = 'external'

/** The fields of a post besides its label. Undefined: not sent. */
export interface StatusPost {
  state: PostedState
  stage?: string | undefined
  targetUrl?: string | undefined
  /** An empty list takes the links away. */
  report?: StatusLink[] | undefined
  artifacts?: StatusLink[] | undefined
  description?: string | undefined
  coverage?: number | undefined
}

/** The part of a stored status that a post changes. */
export interface StatusFields {
  status: PostedState
  stage: string
  targetUrl: string | null
  report: StatusLink[]
  artifacts: StatusLink[]
  description: string | null
  coverage: number | null
  startedAt: Date | null
  finishedAt: Date | null
}

/** States of a record that posts can change. */
export const activeStates: readonly string[] = ['pending', 'running'] satisfies PostedState[]

/** Whether posts can change a record in this state. A finished record is final. */
export const isActive = (state: string): boolean => activeStates.includes(state)

/**
 * The fields of a record after a post. A post may repeat the state or set a running record back to `pending`. Fields that are
 * absent or blank keep their values.
 *
 * @param current the active record; null: the post creates a record
 */
export function applyPost(current: StatusFields | null, post: StatusPost, now: Date): StatusFields {
  return {
    status: post.state,
    stage: filled(post.stage) ?? current?.stage ?? defaultStage,
    targetUrl: filled(post.targetUrl) ?? current?.targetUrl ?? null,
    report: post.report ?? current?.report ?? [],
    artifacts: post.artifacts ?? current?.artifacts ?? [],
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
