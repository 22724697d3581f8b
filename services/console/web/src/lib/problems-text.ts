/**
 * What a refusal says, as a text for people. The API has a text, a list, or problems by their fields; most of
 * these go on from the name of the field, as in 'is too long'.
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
