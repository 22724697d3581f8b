import { type FieldProblems, invalid } from '../errors.js'
import { isHttpUrl } from '../http-url.js'
import { tooLong } from '../texts.js'

const targetUrlLengthMax = 2048
const descriptionLengthMax = 10_000
const labelLengthMax = 255

export interface CheckedTexts {
  targetUrl?: string | undefined
  description?: string | undefined
  name: string
  ref?: string | undefined
}

/** @throws DomainError invalid, with the problems by field */
export function validateStatusTexts({ targetUrl, description, name, ref }: CheckedTexts): void {
  const problems: FieldProblems = {}
  if (targetUrl?.trim()) {
    if (!isHttpUrl(targetUrl)) problems.target_url = ['is blocked: Only allowed schemes are http, https']
    else Object.assign(problems, tooLong('target_url', targetUrl, targetUrlLengthMax))
  }
  Object.assign(problems, tooLong('description', description, descriptionLengthMax))
  Object.assign(problems, tooLong('name', name, labelLengthMax), tooLong('ref', ref, labelLengthMax))
  if (Object.keys(problems).length > 0) throw invalid(problems)
}
