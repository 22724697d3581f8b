/** Longest template, in characters. */
export const bodyTemplateLengthMax = 4096
/** Values may make a body this much longer than its template, in characters; those beyond become null. */
const valuesLengthMax = 1024 * 1024

/** A path into the event: `{{project.name}}`, `{{commits.0.id}}`. */
const placeholder = /\{\{\s*([\w.-]+)\s*\}\}/g

/** What is wrong with a template; null when it makes JSON of every event. */
export function bodyTemplateProblem(template: string): string | null {
  if (template.length > bodyTemplateLengthMax) {
    return `is too long (maximum is ${bodyTemplateLengthMax} characters)`
  }
  try {
    JSON.parse(template.replace(placeholder, '0'))
    return null
  } catch {
    return 'must be JSON once every {{path}} is replaced by a value'
  }
}

/**
 * The body of a webhook by a template: each `{{path}}` becomes the value that the event has there. Within a text it is written
 * as text, elsewhere as JSON; what the event lacks is null, and within a text nothing.
 *
 * @param template one without a {@link bodyTemplateProblem}
 * @param event JSON
 */
export function renderBody(template: string, event: string): string {
  const fields: unknown = JSON.parse(event)
  let room = valuesLengthMax
  let seen = 0
  let inText = false
  const written = new Map<string, string>()
  return template.replace(placeholder, (_match, path: string, at: number) => {
    inText = endsInText(template.slice(seen, at), inText)
    seen = at
    const key = `${inText} ${path}`
    const known = written.get(key) ?? write(valueAt(fields, path), inText)
    written.set(key, known)
    if (known.length > room) return write(undefined, inText)
    room -= known.length
    return known
  })
}

/** Whether JSON is within a text at the end of this piece of it. Paths have no quotes. */
function endsInText(piece: string, begins: boolean): boolean {
  const quotes = piece.replace(/\\./g, '').split('"').length - 1
  return quotes % 2 === 1 ? !begins : begins
}

function write(value: unknown, inText: boolean): string {
  if (!inText) return JSON.stringify(value ?? null)
  const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
  return JSON.stringify(text).slice(1, -1)
}

const valueAt = (fields: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, key)
          ? (value as Record<string, unknown>)[key]
          : undefined,
      fields,
    )
