import { type FieldProblems, invalid } from '@switchyard/domain'
import type { TargetPolicy } from './target-policy.js'
import { urlProblem } from './target-url.js'

const secretLengthMin = 16
const secretLengthMax = 255

/** What a webhook is made of, as far as it was given. */
export interface HookFields {
  url?: string
  secret?: string | null
  events?: string[]
}

export interface HookRules {
  policy: TargetPolicy
  /** Names of events that webhooks of this kind know. */
  knownEvents: readonly string[]
}

/** @throws DomainError invalid, with every problem by field */
export function checkHook(fields: HookFields, { policy, knownEvents }: HookRules): void {
  const problems: FieldProblems = {}
  const note = (field: keyof HookFields, problem: string | null) => {
    if (problem !== null) problems[field] = [problem]
  }
  if (fields.url !== undefined) note('url', urlProblem(fields.url, policy))
  if (typeof fields.secret === 'string') note('secret', secretProblem(fields.secret))
  if (fields.events !== undefined) note('events', eventsProblem(fields.events, knownEvents))
  if (Object.keys(problems).length > 0) throw invalid(problems)
}

/** A secret may become the value of a header. */
function secretProblem(secret: string): string | null {
  if (secret.length < secretLengthMin) return `is too short (minimum is ${secretLengthMin} characters)`
  if (secret.length > secretLengthMax) return `is too long (maximum is ${secretLengthMax} characters)`
  return /^[\x21-\x7e]+$/.test(secret) ? null : 'must be printable ASCII characters without spaces'
}

function eventsProblem(events: string[], known: readonly string[]): string | null {
  if (events.length === 0) return 'must name at least one event'
  const unknown = events.filter((event) => !known.includes(event))
  if (unknown.length === 0) return null
  return `must be among ${known.join(', ')}`
}
