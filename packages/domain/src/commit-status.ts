import { type FieldProblems, refuseProblems } from './errors.js'
import { isHttpUrl, tooLong } from './texts.js'

export const postedStates = ['pending', 'running', 'success', 'failed', 'canceled', 'skipped'] as const
export type PostedState = (typeof postedStates)[number]

/** A link to more information about a status: the page of a report, or a file of the build. */
export interface StatusLink {
  name: string
  url: string
}

/** Most links of each kind that a status has. */
export const statusLinksMax = 20

/**
 * Largest coverage of a status, and negated the smallest one. GitLab takes any number, so clients may send
 * more than 100 or less than 0; the mean of any statuses can be computed in this range.
 */
export const coverageMax = 1_000_000

/** The stage of a status whose posts name none, as in GitLab. */
const defaultStage = 'external'

/** The fields of a post besides those that identify the status. Undefined: not sent. */
export interface StatusPost {
  state: PostedState
  stage?: string | undefined
  targetUrl?: string | undefined
  /** An empty list removes the links. */
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

/** States of a record that posts can still change. */
export const activeStates: readonly string[] = ['pending', 'running'] satisfies PostedState[]

/** Returns whether posts can change a record in this state. A finished record is final. */
export const isActive = (state: string): boolean => activeStates.includes(state)

/**
 * Returns the fields of a record after a post. A post may repeat the state or set a running record back to
 * `pending`. Fields that are absent or blank keep their values.
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

/**
 * The part of a status that decides the state of its commit. `status` may be a state that cannot be posted.
 */
export interface CountedStatus {
  status: string
  allowFailure: boolean
}

/**
 * Returns the state of a commit from the latest statuses of each ref and name; null without a status. The
 * first matching rule decides, as in GitLab. Failures that are allowed are ignored, and an unfinished status
 * makes the commit `running`.
 */
export function aggregateStatus(latest: readonly CountedStatus[]): string | null {
  if (latest.length === 0) return null
  const counted = latest.filter(({ status, allowFailure }) => !(allowFailure && forgivable.has(status)))
  const states = new Set(counted.map(({ status }) => status))
  const only = (...allowed: string[]) => [...states].every((state) => allowed.includes(state))
  if (states.size > 0 && only('skipped')) return 'skipped'
  if (only('success', 'skipped')) return 'success'
  if (only('created')) return 'created'
  if (only('success', 'skipped', 'canceled')) return 'canceled'
  if (only('created', 'skipped', 'pending')) return 'pending'
  if (states.has('running') || states.has('pending')) return 'running'
  if (states.has('manual')) return 'manual'
  return states.has('created') ? 'running' : 'failed'
}

const forgivable = new Set(['failed', 'canceled', 'manual'])

const targetUrlLengthMax = 2048
const descriptionLengthMax = 10_000
const nameLengthMax = 255

export interface CheckedTexts {
  targetUrl?: string | undefined
  stage?: string | undefined
  report?: readonly StatusLink[] | undefined
  artifacts?: readonly StatusLink[] | undefined
  description?: string | undefined
  name: string
  ref?: string | undefined
}

/**
 * Checks the texts of a status.
 *
 * @throws DomainError invalid, with the problems by field
 */
export function validateStatusTexts(texts: CheckedTexts): void {
  const { targetUrl, description, name, ref, stage, report = [], artifacts = [] } = texts
  const problems: FieldProblems = {
    ...linkProblems('report', report),
    ...linkProblems('artifacts', artifacts),
  }
  if (targetUrl?.trim()) Object.assign(problems, urlProblem('target_url', targetUrl))
  Object.assign(problems, tooLong('stage', stage, nameLengthMax))
  Object.assign(problems, tooLong('description', description, descriptionLengthMax))
  Object.assign(problems, tooLong('name', name, nameLengthMax), tooLong('ref', ref, nameLengthMax))
  refuseProblems(problems)
}

const urlProblem = (field: string, url: string): FieldProblems =>
  isHttpUrl(url)
    ? tooLong(field, url, targetUrlLengthMax)
    : { [field]: ['is blocked: Only allowed schemes are http, https'] }

const linkProblems = (field: string, links: readonly StatusLink[]): FieldProblems =>
  Object.assign(
    {},
    ...links.map(({ name, url }, index) => ({
      ...urlProblem(`${field}[${index}][url]`, url),
      ...tooLong(`${field}[${index}][name]`, name, nameLengthMax),
    })),
  )
