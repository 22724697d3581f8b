import {
  bodyTemplateProblem,
  type FieldProblems,
  messageFormats,
  refuseProblems,
  tooLongText,
} from '@switchyard/domain'
import { type TargetPolicy, urlProblem } from '@switchyard/outbound-http'
import { branchFilterProblem } from './branch-filter.js'
import { type CustomHeader, customHeadersProblem } from './custom-headers.js'
import type { SecretBox } from './secret-box.js'

const secretLengthMax = 255
const nameLengthMax = 255
const descriptionLengthMax = 2048

/** The given fields of a new or changed webhook. */
export interface HookFields {
  url?: string
  secret?: string | null | undefined
  events?: string[]
  name?: string | null | undefined
  description?: string | null | undefined
  branchFilter?: string | null | undefined
  branchFilterStrategy?: string | undefined
  bodyTemplate?: string | null | undefined
  messageFormat?: string | null | undefined
  headers?: readonly CustomHeader[] | undefined
}

export interface HookRules {
  policy: TargetPolicy
  /** Names of the events of this kind of webhook. */
  knownEvents: readonly string[]
  eventsMin: number
  /** Name of the API parameter of the secret, and the secret's least length. */
  secret: { parameter: string; lengthMin: number }
  secretBox: SecretBox
}

/**
 * Checks the fields of a webhook.
 *
 * @throws DomainError invalid, with the problems by field
 */
export async function checkHook(fields: HookFields, rules: HookRules): Promise<void> {
  const problems: FieldProblems = {}
  const note = (field: string, problem: string | null) => {
    if (problem !== null) problems[field] = [problem]
  }
  const { parameter, lengthMin } = rules.secret
  if (fields.url !== undefined) note('url', urlProblem(fields.url, rules.policy))
  if (typeof fields.secret === 'string') note(parameter, secretProblem(fields.secret, lengthMin))
  if (fields.events !== undefined) note('events', eventsProblem(fields.events, rules))
  note('name', lengthProblem(fields.name, nameLengthMax))
  note('description', lengthProblem(fields.description, descriptionLengthMax))
  note('custom_headers', customHeadersProblem(fields.headers ?? []))
  if (typeof fields.bodyTemplate === 'string') {
    note('custom_webhook_template', bodyTemplateProblem(fields.bodyTemplate))
  }
  note('message_format', formatProblem(fields))
  const { branchFilter = null, branchFilterStrategy = 'wildcard' } = fields
  note('push_events_branch_filter', await branchFilterProblem({ branchFilter, branchFilterStrategy }))
  refuseProblems(problems)
}

function formatProblem({ messageFormat = null, bodyTemplate = null }: HookFields): string | null {
  if (messageFormat === null) return null
  if (bodyTemplate !== null) return 'cannot be set together with custom_webhook_template'
  return messageFormats.some((name) => name === messageFormat)
    ? null
    : `must be among ${messageFormats.join(', ')}`
}

const lengthProblem = (text: string | null | undefined, max: number): string | null =>
  text && text.length > max ? tooLongText(max) : null

/**
 * Returns the problem of a secret. Its characters are limited because a secret can be the value of a header.
 */
function secretProblem(secret: string, lengthMin: number): string | null {
  if (secret.length < lengthMin) return `is too short (minimum is ${lengthMin} characters)`
  if (secret.length > secretLengthMax) return tooLongText(secretLengthMax)
  return /^[\x21-\x7e]+$/.test(secret) ? null : 'must be printable ASCII characters without spaces'
}

function eventsProblem(events: string[], { knownEvents, eventsMin }: HookRules): string | null {
  if (events.length < eventsMin) return 'must name at least one event'
  const unknown = events.filter((event) => !knownEvents.includes(event))
  if (unknown.length === 0) return null
  return `must be among ${knownEvents.join(', ')}`
}
