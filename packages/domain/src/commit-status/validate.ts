import { type FieldProblems, invalid } from '../errors.js'
import { isHttpUrl } from '../http-url.js'
import { tooLong } from '../texts.js'
import type { StatusLink } from './commit-status.js'

const targetUrlLengthMax = 2048
const descriptionLengthMax = 10_000
const labelLengthMax = 255

export interface CheckedTexts {
  targetUrl?: string | undefined
  stage?: string | undefined
  report?: readonly StatusLink[] | undefined
  artifacts?: readonly StatusLink[] | undefined
  description?: string | undefined
  name: string
  ref?: string | undefined
}

/** @throws DomainError invalid, with the problems by field */
export function validateStatusTexts(texts: CheckedTexts): void {
  const { targetUrl, description, name, ref, stage, report = [], artifacts = [] } = texts
  const problems: FieldProblems = {
    ...linkProblems('report', report),
    ...linkProblems('artifacts', artifacts),
  }
  if (targetUrl?.trim()) Object.assign(problems, urlProblem('target_url', targetUrl))
  Object.assign(problems, tooLong('stage', stage, labelLengthMax))
  Object.assign(problems, tooLong('description', description, descriptionLengthMax))
  Object.assign(problems, tooLong('name', name, labelLengthMax), tooLong('ref', ref, labelLengthMax))
  if (Object.keys(problems).length > 0) throw invalid(problems)
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
      ...tooLong(`${field}[${index}][name]`, name, labelLengthMax),
    })),
  )
