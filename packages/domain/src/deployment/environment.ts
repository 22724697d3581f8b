import { createHash } from 'node:crypto'
import type { FieldProblems } from '../errors.js'
import { isHttpUrl, tooLongText } from '../texts.js'

export const environmentTiers = ['production', 'staging', 'testing', 'development', 'other'] as const
export type EnvironmentTier = (typeof environmentTiers)[number]

/**
 * The states of an environment. `stopping` is GitLab's; no environment has it, because environments stop at
 * once.
 */
export const environmentStates = ['available', 'stopping', 'stopped'] as const

export const autoStopSettings = ['always', 'with_action'] as const

export const environmentsPerProjectMax = 10_000

const nameLengthMax = 255
const externalUrlLengthMax = 255
const descriptionLengthMax = 10_000

const nameRule =
  "can contain only letters, digits, spaces, '-', '_', '/', '$', '{', '}' and '.', but it cannot start or end with '/'"

/** The fields of an environment that callers write. Undefined: not sent. */
export interface EnvironmentTexts {
  name?: string | undefined
  externalUrl?: string | null | undefined
  description?: string | null | undefined
}

/** Returns the problems of the fields of an environment, by the names of their parameters. */
export function environmentProblems({ name, externalUrl, description }: EnvironmentTexts): FieldProblems {
  const problems: FieldProblems = {}
  const nameProblem = name === undefined ? null : environmentNameProblem(name)
  if (nameProblem !== null) problems.name = [nameProblem]
  if (externalUrl && externalUrl.length > externalUrlLengthMax) {
    problems.external_url = [tooLongText(externalUrlLengthMax)]
  } else if (externalUrl && !isHttpUrl(externalUrl)) {
    problems.external_url = ['is blocked: Only allowed schemes are http, https']
  }
  if (description && description.length > descriptionLengthMax) {
    problems.description = [tooLongText(descriptionLengthMax)]
  }
  return problems
}

/** Returns the problem of the name of an environment; null for a valid name. */
export function environmentNameProblem(name: string): string | null {
  if (name.length > nameLengthMax) return tooLongText(nameLengthMax)
  const isGood = /^[A-Za-z0-9 _\-/${}.]+$/.test(name) && !name.startsWith('/') && !name.endsWith('/')
  return isGood ? null : nameRule
}

/** Words in names that indicate the tier. The first tier with one of its words in the name applies. */
const tierWords: readonly (readonly [EnvironmentTier, readonly string[]])[] = [
  ['development', ['dev', 'review', 'trunk']],
  ['testing', ['test', 'tst', 'int', 'acc', 'acpt', 'qa', 'qc', 'control', 'quality']],
  ['staging', ['stg', 'stag', 'mod', 'model', 'pre', 'demo', 'non']],
  ['production', ['prod', 'prd', 'live']],
]

/** Guesses the tier of an environment from its name, as GitLab does, when its creator names none. */
export function guessTier(name: string): EnvironmentTier {
  const lower = name.toLowerCase()
  const found = tierWords.find(([, words]) => words.some((word) => lower.includes(word)))
  return found?.[0] ?? 'other'
}

const slugLengthMax = 24
const keptLength = 17
const suffixLength = 6

/**
 * Returns a name for DNS labels and the like, made as GitLab makes it: lower case, at most 24 characters,
 * beginning with a letter. An altered name gets a suffix from its hash, so that slugs of different names
 * differ.
 */
export function environmentSlug(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^(?![a-z])/, 'env-')
    .replace(/^env--/, 'env-')
  if (plain === name && plain.length <= slugLengthMax) return plain.endsWith('-') ? plain.slice(0, -1) : plain
  const kept = plain.slice(0, keptLength)
  const hash = createHash('sha256').update(name).digest('hex')
  const suffix = BigInt(`0x${hash}`).toString(36).slice(-suffixLength)
  return `${kept}${kept.endsWith('-') ? '' : '-'}${suffix}`
}
