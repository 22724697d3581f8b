import { invalidParameters } from '@switchyard/domain'
import type { Request } from 'express'

/** Longest value of a parameter of a question: a path within a repository is no longer. */
export const questionCharsMax = 4096

/**
 * The parameters in the query of a request. Those of a question (GET, HEAD) have bounds of their own: an empty one counts
 * as left out, because forms and many clients send every field.
 *
 * @throws DomainError invalid-parameters for a value of a question with more than {@link questionCharsMax} characters
 */
export function readQuery({ method, query }: Pick<Request, 'method' | 'query'>): Record<string, unknown> {
  if (method !== 'GET' && method !== 'HEAD') return query
  const given = Object.entries(query).filter(([, value]) => !isEmpty(value))
  const tooLong = given.filter(([, value]) => charsOf(value) > questionCharsMax)
  if (tooLong.length === 0) return Object.fromEntries(given)
  throw invalidParameters(
    tooLong.map(([name]) => `${name} is too long (maximum is ${questionCharsMax} characters)`),
  )
}

const isEmpty = (value: unknown) => value === '' || (Array.isArray(value) && value.length === 0)

/** The length of a text, or of the longest text within a list or an object. */
function charsOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  return Object.values(value ?? {}).reduce<number>((most, item) => Math.max(most, charsOf(item)), 0)
}
