/**
 * Returns the text of a refusal for people. The API sends a text, a list, or problems by field; most of these
 * continue the name of the field, as in 'is too long'.
 */
export function problemsText(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(problemsText).join('; ')
  if (value && typeof value === 'object')
    return Object.entries(value)
      .map(([field, problem]) => ofField(field.replaceAll('_', ' '), problemsText(problem)))
      .join('; ')
  return ''
}

const ofField = (field: string, problem: string) =>
  /^\p{Ll}/u.test(problem) ? `${field} ${problem}` : `${field}: ${problem}`
