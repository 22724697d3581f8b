import { type FieldProblems, invalid } from '../errors.js'

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

/** The URL parser ignores line breaks and tabs, but pages that show the link may not, so control characters are refused. */
const isHttpUrl = (text: string) => /^https?:\/\/\P{Cc}+$/iu.test(text) && URL.canParse(text)

/** Counts code points, as the database does. */
const tooLong = (field: string, text = '', max: number): FieldProblems =>
  text.length > max && [...text].length > max
    ? { [field]: [`is too long (maximum is ${max} characters)`] }
    : {}
